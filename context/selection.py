"""Which parts of some passages stay within a number of tokens. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from context.cutting import cut_at_stop
from context.errors import DoesNotFitError
from context.forcing import (
    Rules,
    bare_spans,
    clause_spans,
    forced_pieces,
    line_spans,
    markers_after,
    word_spans,
)
from context.pieces import Piece
from context.relevance import piece_terms
from context.spans import Span, join_passages, join_spans
from context.tokens import TokenCounter

_HEADROOM_TOKENS = 2
_REDUNDANT_SHARE = 0.8
_HEADING_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Selected:
    """What stays.

    Attributes:
        spans: For each passage the characters to keep, sorted and disjoint.
        dropped: Pieces of which nothing stays.
    """

    spans: tuple[tuple[Span, ...], ...]
    dropped: int


def select(
    texts: Sequence[str],
    pieces: Sequence[Piece],
    weights: Sequence[float],
    *,
    target_tokens: int,
    rules: Rules,
    tokens: TokenCounter,
) -> Selected:
    """Choose what stays of some passages.

    Pieces are taken by weight, the forced ones first, and the choice is checked by counting the
    text it gives: the target is never exceeded.

    Args:
        texts: The passages.
        pieces: Of all passages, in order.
        weights: One a piece; heavier pieces stay longer.
        target_tokens: Tokens of what stays, passages joined.
        rules: What must survive.
        tokens: Counts tokens.

    Raises:
        DoesNotFitError: What must survive is larger than the target.
    """
    chooser = _Chooser(texts, pieces, weights, rules=rules, tokens=tokens, target=target_tokens)
    chooser.take_forced()
    chooser.fill()
    chooser.trim()
    return chooser.result()


_Form = Callable[[Piece, Sequence[str]], list[Span]]


def _whole(piece: Piece, words: Sequence[str]) -> list[Span]:  # noqa: ARG001 - one of the forms
    return [(piece.start, piece.end)]


class _Chooser:
    """The state of one choice: spans taken per piece, over all passages."""

    def __init__(
        self,
        texts: Sequence[str],
        pieces: Sequence[Piece],
        weights: Sequence[float],
        *,
        rules: Rules,
        tokens: TokenCounter,
        target: int,
    ) -> None:
        self._texts = texts
        self._tokens = tokens
        self._target = target
        self._rules = rules
        self._pieces = pieces
        self._terms = [frozenset(piece_terms(piece.text)) for piece in self._pieces]
        self._costs = tokens.count_many([piece.text for piece in self._pieces])
        self._weights = weights
        self._taken: dict[int, tuple[Span, ...]] = {}
        self._forced: dict[int, tuple[Span, ...]] = {}

    def take_forced(self) -> None:
        """Take what must survive, in the widest form that fits and then in the cheapest place."""
        cheap = [-cost for cost in self._costs]
        attempts: tuple[tuple[Sequence[float], _Form], ...] = (
            (self._weights, _whole),
            (self._weights, clause_spans),
            (self._weights, word_spans),
            (cheap, word_spans),
            (cheap, line_spans),
            (cheap, bare_spans),
        )
        for weights, form in attempts:
            forced = forced_pieces(self._pieces, weights, self._rules)
            self._taken = {at: tuple(form(self._pieces[at], words)) for at, words in forced.items()}
            if self._count() <= self._target:
                self._forced = dict(self._taken)
                return
        raise DoesNotFitError(
            f"what must be kept needs {self._count()} tokens, the target is {self._target}"
        )

    def fill(self) -> None:
        """Take further pieces by weight while they fit, repetitions last."""
        left = self._target - self._count()
        order = sorted(range(len(self._pieces)), key=lambda at: (-self._weights[at], at))
        late: list[int] = []
        for at in order:
            if self._is_whole(at) or self._pieces[at].kind == "heading":
                continue
            if self._repeats(at):
                late.append(at)
            else:
                left -= self._take(at, left)
        for at in late:
            left -= self._take(at, left)
        if not self._taken:
            self._cut_best()

    def trim(self) -> None:
        """Give back the lightest pieces while the text that results is too long."""
        spare = sorted(
            (at for at, spans in self._taken.items() if spans != self._forced.get(at)),
            key=lambda at: self._weights[at],
            reverse=True,
        )
        while spare and self._count() > self._target:
            at = spare.pop()
            del self._taken[at]
            if at in self._forced:
                self._taken[at] = self._forced[at]

    def result(self) -> Selected:
        """Return what was chosen."""
        return Selected(self._spans(), len(self._pieces) - len(self._taken))

    def _take(self, at: int, left: int) -> int:
        """Take a piece, and the heading over it when there is room; return what they cost."""
        cost = self._costs[at]
        if cost > left:
            return 0
        self._taken[at] = ((self._pieces[at].start, self._pieces[at].end),)
        heading = self._heading_of(at)
        if heading is not None and cost + self._costs[heading] <= left:
            self._taken[heading] = ((self._pieces[heading].start, self._pieces[heading].end),)
            cost += self._costs[heading]
        return cost

    def _heading_of(self, at: int) -> int | None:
        for above in range(at - 1, -1, -1):
            if self._pieces[above].passage != self._pieces[at].passage:
                return None
            if self._pieces[above].kind == "heading":
                fits = self._costs[above] <= _HEADING_TOKENS and above not in self._taken
                return above if fits else None
        return None

    def _is_whole(self, at: int) -> bool:
        piece = self._pieces[at]
        return self._taken.get(at) == ((piece.start, piece.end),)

    def _repeats(self, at: int) -> bool:
        own = self._terms[at]
        most = _REDUNDANT_SHARE * len(own)
        return bool(own) and any(
            len(own & self._terms[other]) >= most for other in self._taken if other != at
        )

    def _cut_best(self) -> None:
        """Nothing fits whole: cut the heaviest sentence backwards at a stop token."""
        sentences = [at for at, piece in enumerate(self._pieces) if piece.kind == "sentence"]
        if not sentences:
            return
        at = max(sentences, key=lambda each: (self._weights[each], -each))
        piece = self._pieces[at]
        limit = self._target - _HEADROOM_TOKENS
        end = cut_at_stop(piece.text, limit, self._rules.stop_tokens, self._tokens)
        if not end:
            return
        head = (piece.start, piece.start + end)
        self._taken[at] = (head, *markers_after(piece, end))
        if self._count() > self._target:
            self._taken[at] = (head,)

    def _spans(self) -> tuple[tuple[Span, ...], ...]:
        by_passage: list[list[Span]] = [[] for _ in self._texts]
        for at in sorted(self._taken):
            by_passage[self._pieces[at].passage] += self._taken[at]
        return tuple(tuple(spans) for spans in by_passage)

    def _count(self) -> int:
        joined = [
            join_spans(text, spans) for text, spans in zip(self._texts, self._spans(), strict=True)
        ]
        return self._tokens.count(join_passages(joined))
