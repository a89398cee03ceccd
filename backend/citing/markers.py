r"""Citation markers in an answer: ``[2]``, ``[1, 3]``, ``[1][2]``, ``[1-3]``, ``(see [2])``.

A marker is only a reference to evidence; it is never trusted. Square brackets inside code, links
and addresses are not markers, neither are ``\[2\]`` nor an index glued to an identifier
(``argv[1]``, ``x[0]``). After ``keep_markers`` every marker left is written as ``[n]``, one number
each, and points into the allowed set.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from prose.markup import protected

LARGEST_RANGE = 50
_PASSES = 8

_ITEM = r"\^?\d{1,6}(?:[ \t]{0,3}[-–—][ \t]{0,3}\d{1,6})?"
_LIST = rf"[ \t]{{0,3}}{_ITEM}(?:[ \t]{{0,3}}[,;][ \t]{{0,3}}{_ITEM}){{0,40}}[ \t]{{0,3}}"
_GROUP = re.compile(
    rf"\[(?P<square>{_LIST})\](?P<target>\([^\s()]{{0,500}}\))?"
    rf"|【(?P<wide>{_LIST})(?:†[^】\n]{{0,80}})?】"
)
_SEE = re.compile(r"[ \t]*\((?:see(?: also)?|cf\.?|source:?|ref\.?)?[ \t,;]*\)$", re.IGNORECASE)
_IDENTIFIER_BEFORE = re.compile(r"(?:(?<![^\W\d])[^\W\d]|[\w.]*[_.\d)\]][\w.]*|argv|args)$")
_DEFINITION = re.compile(r"^[ \t]{0,3}\[\^?\d{1,6}\]:[ \t]*\S.*$\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Marker:
    """One bracket group: the characters ``[start, end)`` and the numbers it names, in order."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeptMarkers:
    """A text whose markers all point into the allowed set.

    Attributes:
        text: The text with markers rewritten as ``[n]``.
        removed: Every number taken out, in order of appearance, with repetitions.
    """

    text: str
    removed: tuple[int, ...]


def find_markers(text: str) -> list[Marker]:
    """Find the citation markers of a text, in order, outside code, links and addresses."""
    guarded = protected(text)
    found: list[Marker] = []
    for match in _GROUP.finditer(text):
        if guarded.holds(match.start()) or _is_index(text, match.start()):
            continue
        found.append(Marker(match.start(), match.end(), _numbers(match["square"] or match["wide"])))
    return found


def keep_markers(text: str, allowed: AbstractSet[int]) -> KeptMarkers:
    """Rewrite every marker as ``[n]`` and take out the numbers that are not allowed.

    Taking a marker out can join what stood around it into a new one; the text is read again until
    nothing changes, and what still resembles a foreign marker after that loses its brackets.

    Args:
        text: An answer as its author wrote it.
        allowed: Numbers of the evidence that was received.

    Returns:
        The cleaned text, and the numbers removed.
    """
    text = _DEFINITION.sub("", text)
    removed: list[int] = []
    for _ in range(_PASSES):
        cleaned, lost = _rewrite(text, allowed)
        removed += lost
        if cleaned == text:
            return KeptMarkers(cleaned, tuple(removed))
        text = cleaned
    while foreign := [m for m in find_markers(text) if not set(m.numbers) <= allowed]:
        for marker in reversed(foreign):
            body = text[marker.start : marker.end].translate(_PARENTHESES)
            text = text[: marker.start] + body + text[marker.end :]
    return KeptMarkers(text, tuple(removed))


_PARENTHESES = str.maketrans("[]【】", "()()")


def _rewrite(text: str, allowed: AbstractSet[int]) -> tuple[str, list[int]]:
    pieces: list[str] = []
    removed: list[int] = []
    position = 0
    run: set[int] = set()
    for marker in find_markers(text):
        between = text[position : marker.start]
        if between.strip():
            run = set()
        kept = [n for n in dict.fromkeys(marker.numbers) if n in allowed and n not in run]
        removed += [n for n in marker.numbers if n not in allowed]
        run.update(kept)
        pieces.append(between if kept else between.rstrip(" \t"))
        pieces.append("".join(f"[{n}]" for n in kept))
        position = marker.end
        if not kept and text.startswith(")", position) and (see := _SEE.search(between + ")")):
            pieces[-2] = between[: see.start()]
            position += 1
    pieces.append(text[position:])
    return "".join(pieces), removed


def _is_index(text: str, start: int) -> bool:
    """Whether the bracket is escaped or an index glued to an identifier."""
    before = text[max(0, start - 40) : start]
    if before.endswith("\\"):
        return True
    word = re.search(r"[\w.)\]]*$", before)
    if word is None or not word[0] or word[0][-1] in ".)]":
        return False
    return bool(_IDENTIFIER_BEFORE.fullmatch(word[0]))


def _numbers(body: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for item in re.split(r"[,;]", body.replace("^", "")):
        first, *rest = (int(n) for n in re.findall(r"\d+", item))
        last = rest[0] if rest else first
        if first <= last <= first + LARGEST_RANGE:
            numbers += range(first, last + 1)
        else:
            numbers += [first, last]
    return tuple(numbers)
