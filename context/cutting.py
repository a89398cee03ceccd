"""Where a text is cut so that it has no more than a number of tokens. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from context.tokens import TokenCounter
from prose.markup import protected


def cut_at_stop(text: str, limit_tokens: int, stops: Sequence[str], tokens: TokenCounter) -> int:
    """Return where to cut a text so that it has at most ``limit_tokens`` tokens.

    The last stop token within the limit ends the cut: a full stop with white space behind it, so
    that no number and no name is halved. Without one the cut is the last place at or before the
    limit that is in no word, code span, link or address; where there is no such place, 0.

    Args:
        text: One sentence, or any text.
        limit_tokens: Tokens that may stay; 0 or less keeps nothing.
        stops: Where a cut may fall, each kept.
        tokens: Locates tokens.
    """
    spans = tokens.offsets(text)
    if len(spans) <= limit_tokens:
        return len(text)
    guarded = protected(text)
    ends = [
        (end, spans[at + 1][0])
        for at, (_, end) in enumerate(spans[: max(0, limit_tokens)])
        if end <= spans[at + 1][0] and not (guarded.holds(end) and guarded.holds(end - 1))
    ]
    for end, following in reversed(ends):
        if any(_stops(text, end, following, stop) for stop in stops):
            return end
    return next((end for end, _ in reversed(ends) if _is_outside_word(text, end)), 0)


def _stops(text: str, end: int, following: int, stop: str) -> bool:
    gap = text[end:following]
    if not stop.strip():
        return stop in gap
    return text.endswith(stop, 0, end) and bool(gap)


def _is_outside_word(text: str, end: int) -> bool:
    return text[end].isspace() or not (_is_word(text[end - 1]) and _is_word(text[end]))


def _is_word(character: str) -> bool:
    return character.isalnum() or character in "_-.@/"
