"""Where a sentence and a passage run alike, and on which words they differ there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq, Levenshtein

from backend.support.tokens import Token, canonical, stem
from backend.support.words import OPPOSITES

_CAP = 2
_SAME_ORDER = 0.75

OPPOSITES_OF: dict[str, set[str]] = {}
for _left, _right in OPPOSITES:
    OPPOSITES_OF.setdefault(stem(_left), set()).add(stem(_right))
    OPPOSITES_OF.setdefault(stem(_right), set()).add(stem(_left))


@dataclass(frozen=True, slots=True)
class Differences:
    """How a sentence departs from the stretch it runs along; counts are capped at 2.

    Attributes:
        order: Share of the sentence's tokens found in the same order, in [0, 1].
        numbers: Numbers standing where the passage has another number.
        names: Names or identifiers standing where the passage has others.
        polarity: Negations that stand on one side only.
        opposites: Words standing where the passage has their opposite.
        claims: Disagreements of must, may, only, all, more and the like.
    """

    order: float = 0.0
    numbers: float = 0.0
    names: float = 0.0
    polarity: float = 0.0
    opposites: float = 0.0
    claims: float = 0.0


def align(tokens: Sequence[Token], window: Sequence[Token]) -> Differences:
    """Align a sentence with the stretch of the window it runs along, and read the differences."""
    left = [canonical(token) for token in tokens]
    right = [canonical(token) for token in window]
    blocks = [op for op in LCSseq.opcodes(left, right) if op.tag == "equal"]
    if not blocks:
        return Differences()
    order = sum(block.src_end - block.src_start for block in blocks) / len(left)
    first = max(0, blocks[0].dest_start - blocks[0].src_start)
    last = blocks[-1].dest_end + len(left) - blocks[-1].src_end
    region = window[first:last]
    pairs = list(_replaced(tokens, region))
    return Differences(
        order=order,
        numbers=_capped(sum(_is_number(a) and _is_number(b) for a, b in pairs)),
        names=_capped(
            max(sum(_is_name(a) and _is_name(b) for a, b in pairs), _slots_taken(tokens, window))
        ),
        polarity=_polarity(tokens, region if order >= _SAME_ORDER else window),
        opposites=_capped(sum(b.key in OPPOSITES_OF.get(a.key, ()) for a, b in pairs)),
        claims=_capped(sum(a.kind == b.kind == "claim" for a, b in pairs)),
    )


def _replaced(tokens: Sequence[Token], region: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Yield pairs of a word of the sentence and a word of the region that stands in its place."""
    left = [canonical(token) for token in tokens]
    right = [canonical(token) for token in region]
    for op in Levenshtein.opcodes(left, right):
        if op.tag == "replace":
            yield from zip(
                tokens[op.src_start : op.src_end], region[op.dest_start : op.dest_end], strict=False
            )


def _is_number(token: Token) -> bool:
    return token.kind in {"number", "count"}


def _is_name(token: Token) -> bool:
    return token.kind in {"name", "identifier"}


def _slots_taken(tokens: Sequence[Token], window: Sequence[Token]) -> int:
    """Count names that stand between the same two words as other names in the window."""
    theirs = _slots(window)
    return sum(
        slot in theirs and not names & theirs[slot] for slot, names in _slots(tokens).items()
    )


def _slots(tokens: Sequence[Token]) -> dict[tuple[str, str], set[str]]:
    """Map the words before and after a run of names to the runs that stand there."""
    slots: dict[tuple[str, str], set[str]] = {}
    before, run = "", ""
    for token in (*tokens, Token("", "stop", 0, 0)):
        if _is_name(token):
            run = f"{run} {token.key}"
            continue
        if run:
            slots.setdefault((before, canonical(token)), set()).add(run)
        before, run = canonical(token), ""
    return slots


def _polarity(tokens: Sequence[Token], region: Sequence[Token]) -> float:
    ours = Counter(token.key for token in tokens if token.kind == "negation")
    theirs = Counter(token.key for token in region if token.kind == "negation")
    return _capped(abs(ours.total() - theirs.total()))


def _capped(count: int) -> float:
    return float(min(_CAP, count))
