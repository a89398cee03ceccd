"""Deduplication on labelled pairs of the sample corpus."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from context.deduplicate import deduplicate
from retrieval.opening import open_embedder
from retrieval.query_embedding import QueryEmbedder
from retrieval.settings import RetrievalSettings

PAIRS = Path("evals/sets/python_reference/duplicate_pairs.jsonl")


class Pair(BaseModel):
    id: str
    left: str
    right: str
    same: bool
    by: str


def read_pairs() -> list[Pair]:
    return [Pair.model_validate_json(line) for line in PAIRS.read_text("utf-8").splitlines()]


@pytest.fixture
async def embedder(tmp_path: Path) -> AsyncIterator[QueryEmbedder]:
    settings = RetrievalSettings(data_dir=tmp_path)
    opened = QueryEmbedder(await asyncio.to_thread(open_embedder, settings))
    yield opened
    opened.close()


async def test_what_is_dropped_repeats_and_names_its_match(embedder: QueryEmbedder) -> None:
    pairs = read_pairs()
    dropped: list[Pair] = []
    for pair in pairs:
        found = await deduplicate(
            [pair.left, pair.right], embedder.embed_passages, threshold_cosine=0.9
        )
        if found.filtered:
            assert found.filtered[0].duplicate_of == 0
            dropped.append(pair)

    right = sum(pair.same for pair in dropped)
    assert len(pairs) == 200
    assert right / len(dropped) >= 0.98
    assert right / sum(pair.same for pair in pairs) >= 0.9
