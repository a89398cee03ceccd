"""Whether a passage has a sentence word for word, whatever stands between the words."""

from __future__ import annotations

from functools import lru_cache

SHORTEST_CHARACTERS = 12
_STOPS = frozenset(".!?…。")


def find_verbatim(sentence: str, passage: str) -> tuple[int, int] | None:
    """Find a sentence in a passage by its letters and digits alone.

    White space, punctuation, markup and case do not count; a number or word that is longer in the
    passage does ("5" is not "50").

    Args:
        sentence: Without citation markers.
        passage: The text to search.

    Returns:
        Characters ``[start, end)`` of the passage; None when it is not there, or too short to tell.
    """
    wanted = "".join(char for char in sentence.casefold() if char.isalnum())
    if len(wanted) < SHORTEST_CHARACTERS:
        return None
    letters, places = _letters(passage)
    at = letters.find(wanted)
    while at >= 0:
        start, end = places[at], places[at + len(wanted) - 1] + 1
        if not _goes_on(passage, start, -1) and not _goes_on(passage, end - 1, 1):
            return start, end + (passage[end : end + 1] in _STOPS)
        at = letters.find(wanted, at + 1)
    return None


@lru_cache(maxsize=512)
def _letters(passage: str) -> tuple[str, tuple[int, ...]]:
    letters: list[str] = []
    places: list[int] = []
    for place, char in enumerate(passage):
        for folded in char.casefold():
            if folded.isalnum():
                letters.append(folded)
                places.append(place)
    return "".join(letters), tuple(places)


def _goes_on(text: str, edge: int, step: int) -> bool:
    """Whether the word or number at an edge goes on beyond it."""
    beyond = text[edge + step : edge + step + 1] if edge + step >= 0 else ""
    further = text[edge + 2 * step : edge + 2 * step + 1] if edge + 2 * step >= 0 else ""
    is_decimal = beyond in {".", ","} and text[edge].isdigit() and further.isdigit()
    return beyond.isalnum() or is_decimal
