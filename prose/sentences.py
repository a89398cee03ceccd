"""Splitting answers and passages into sentences, with exact offsets.

Documentation is not prose alone. A fence is one unit, a list item, table row or heading starts a
new one, a soft-wrapped line goes on. Version numbers, abbreviations, code spans and addresses
hold full stops that end nothing. A citation marker after the full stop belongs to the sentence
before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from prose.markup import Range, Ranges, fences, merge, protected


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MARKER = r"(?:[ \t]?(?:\[\^?\d[\d\s,;–—-]{0,40}\]|【\d[^】\n]{0,40}】)(?:\([^\s()]{0,300}\))?)"
_BOUNDARY = re.compile(
    rf"(?P<stop>[.!?…]+|[。！？]+)(?P<closers>[\"'”’»)\]*_]*)(?P<markers>{_MARKER}*)(?P<gap>\s+|$)"
    rf"|(?P<wide>[。！？]+[”’」』）]*{_MARKER}*)"
)
_BLOCK_START = re.compile(
    r"[ \t]*(?:[-*+•‣◦][ \t]|\d{1,3}[.)][ \t]|#{1,6}[ \t]|>|\||:[a-z]+[^:\n]*:[ \t]|={3,}|-{3,})"
)
_WHOLE_LINE = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\|)")
_ENUMERATOR = re.compile(r"[\s>*_(#•‣◦+-]*(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})\.$")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘`]*$")
_STARTER = re.compile(r"[\s\"'“‘«(\[*_]*(?P<first>\S)")
_CODE_LIKE = re.compile(r"[a-z]+(?:[A-Z_0-9]|\(|\.[a-z])")
_ABBREVIATIONS = _words(
    "e.g i.e eg ie cf vs viz resp approx ca al dr mr mrs ms prof st fig figs eq eqs sec ch "
    "chap vol ed eds pp p no nos ver rev dept est incl excl min max avg jan feb mar apr jun "
    "jul aug sep sept oct nov dec a.k.a w.r.t"
)
_BEFORE_NUMBER = _words("no nos fig figs eq eqs sec ch chap vol p pp ver rev min max ca")
_AMBIGUOUS = _words("min max no st sec ed est ch mar")
_WRAP_COLUMNS = range(40, 121)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of a text: ``text == source[start:end]``, no space at either end.

    Attributes:
        start: First character.
        end: One past the last.
        is_code: Whether it is a fenced block.
    """

    start: int
    end: int
    text: str
    is_code: bool = False


def split_sentences(text: str) -> list[Sentence]:
    """Split a text into sentences, in order.

    Every character that is not white space belongs to exactly one sentence. No sentence begins or
    ends inside a citation marker, a code span, a link or an address.

    Args:
        text: Markdown or plain text of any length.

    Returns:
        The sentences; empty for a text without a visible character.
    """
    guarded = protected(text)
    fenced = merge(fences(text))
    found: list[Sentence] = []
    position = 0
    for start, end in [*fenced, (len(text), len(text))]:
        for block_start, block_end in _blocks(text, position, start, guarded):
            found += _split_block(text, block_start, block_end, guarded)
        found += _trimmed(text, start, end, is_code=True)
        position = end
    return found


def _trimmed(text: str, start: int, end: int, *, is_code: bool = False) -> list[Sentence]:
    body = text[start:end]
    stripped = body.strip()
    if not stripped:
        return []
    first = start + len(body) - len(body.lstrip())
    return [Sentence(first, first + len(stripped), stripped, is_code)]


def _blocks(text: str, start: int, end: int, guarded: Ranges) -> Iterator[Range]:
    """Yield paragraphs, list items, table rows and headings of a stretch without fences."""
    lines = _lines(text, start, end)
    widest = max((len(text[a:b]) for a, b in lines), default=0)
    opened: int | None = None
    for at, (line_start, line_end) in enumerate(lines):
        if opened is None:
            opened = line_start
        following = lines[at + 1] if at + 1 < len(lines) else None
        if following is not None and guarded.holds(line_end):
            continue
        if following is None or _breaks(text, (line_start, line_end), following, widest):
            yield opened, line_end
            opened = None


def _lines(text: str, start: int, end: int) -> list[Range]:
    lines: list[Range] = []
    position = start
    for line in text[start:end].split("\n"):
        lines.append((position, position + len(line)))
        position += len(line) + 1
    return lines


def _breaks(text: str, line: Range, following: Range, widest: int) -> bool:
    """Whether the line break between two lines ends a block."""
    this, after = text[line[0] : line[1]], text[following[0] : following[1]]
    if not this.strip() or not after.strip():
        return True
    if this.lstrip().startswith(">") and after.lstrip().startswith(">"):
        return False
    if _BLOCK_START.match(after) or _WHOLE_LINE.match(this):
        return True
    return not _is_soft_wrap(this.rstrip(), after.strip(), widest)


def _is_soft_wrap(this: str, after: str, widest: int) -> bool:
    """Whether a sentence runs on over a line break.

    It does when the next line starts in lower case, or when the text is set to a column and the
    next word would not have fitted on this line.
    """
    if after[0].islower() and this[-1] not in ".!?:;|":
        return True
    if widest not in _WRAP_COLUMNS:
        return False
    return len(this) + 1 + len(after.split(maxsplit=1)[0]) > widest


def _split_block(text: str, start: int, end: int, guarded: Ranges) -> Iterator[Sentence]:
    if _WHOLE_LINE.match(text, start, end):
        yield from _trimmed(text, start, end)
        return
    opened = start
    for match in _BOUNDARY.finditer(text, start, end):
        if guarded.holds(match.start()):
            continue
        cut = match.end("markers") if match["stop"] else match.end()
        if guarded.holds(cut) and guarded.holds(cut - 1):
            continue
        if match["stop"] and not _is_end(text, opened, match, end):
            continue
        yield from _trimmed(text, opened, cut)
        opened = cut
    yield from _trimmed(text, opened, end)


def _is_end(text: str, opened: int, match: re.Match[str], end: int) -> bool:
    """Whether a full stop with space behind it ends a sentence."""
    rest = text[match.end() : min(end, match.end() + 80)]
    starter = _STARTER.match(rest)
    if starter is None:
        return True
    if match["stop"] == "." and not match["closers"]:
        before = text[opened : match.start() + 1]
        if _ENUMERATOR.fullmatch(before):
            return False
        if not match["markers"] and _is_abbreviation(before[:-1], starter["first"]):
            return False
    if not starter["first"].islower():
        return True
    return bool(match["markers"]) or bool(_CODE_LIKE.match(rest[starter.start("first") :]))


def _is_abbreviation(before: str, following: str) -> bool:
    """Whether the full stop after ``before`` marks an abbreviation or an initial."""
    last = _LAST_WORD.search(before)
    word = last[0].strip("*_").casefold() if last else ""
    if word in _BEFORE_NUMBER and following.isdigit():
        return True
    if word in _AMBIGUOUS:
        return False
    if len(word) == 1 and word.isalpha():
        return bool(last and last[0].isupper()) and following.isupper()
    return word in _ABBREVIATIONS
