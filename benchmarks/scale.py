"""How much is measured: the quick form for every day, the full one for the record."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes of a run.

    Attributes:
        is_quick: Whether the report must say that it is the quick form.
        chunks: Sizes of the index in the comparison of searches.
        callers: At the same time.
        searches: Per cell, each with a question of its own.
        asks: Questions at one caller, and again at many.
        ask_chunks: Size of the index that questions are asked of.
        documents: Of the comparison of ingestions.
        many_documents: Of the run that must keep its memory bounded; 0 leaves it out.
        growth: Sizes of the index whose growth is measured.
    """

    is_quick: bool
    chunks: tuple[int, ...]
    callers: tuple[int, ...]
    searches: int
    asks: int
    ask_chunks: int
    documents: int
    many_documents: int
    growth: tuple[int, ...]


QUICK = Scale(
    is_quick=True,
    chunks=(1_000, 10_000),
    callers=(1, 8),
    searches=64,
    asks=120,
    ask_chunks=3_500,
    documents=24,
    many_documents=0,
    growth=(10_000, 100_000),
)
FULL = Scale(
    is_quick=False,
    chunks=(1_000, 10_000, 50_000),
    callers=(1, 8, 32),
    searches=400,
    asks=600,
    ask_chunks=3_500,
    documents=80,
    many_documents=20_000,
    growth=(10_000, 100_000, 1_000_000),
)
