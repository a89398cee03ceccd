from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.deduplicate import Reference, deduplicate, fold
from context.errors import BadInputError
from retrieval.chunk import DenseVector

DIRECTIONS = {"north": (1.0, 0.0), "north by east": (0.96, 0.28), "east": (0.0, 1.0)}


def unit(text: str) -> DenseVector:
    return np.asarray(DIRECTIONS[text.strip().casefold()], dtype=np.float32)


@dataclass
class Embedder:
    """Counts what it embeds."""

    texts: list[str] = field(default_factory=list[str])

    async def __call__(self, texts: Sequence[str]) -> Sequence[DenseVector]:
        self.texts += texts
        return [unit(text) for text in texts]


async def test_exact_repetitions_are_found_before_embedding() -> None:
    embed = Embedder()

    result = await deduplicate(
        ["north", " NORTH ", "east"], embed, same_words=False, threshold_cosine=0.9
    )

    assert result.selected == ("north", "east")
    assert embed.texts == ["north", "east"]
    assert [(f.index, f.duplicate_of, f.exact, f.cosine) for f in result.filtered] == [
        (1, 0, True, 1.0)
    ]


async def test_near_repetitions_name_the_nearest_text_and_its_cosine() -> None:
    result = await deduplicate(
        ["east", "north", "north by east"], Embedder(), same_words=False, threshold_cosine=0.9
    )

    assert result.selected_indices == (0, 1)
    assert result.filtered[0].duplicate_of == 1
    assert result.filtered[0].exact is False
    assert result.filtered[0].cosine == pytest.approx(0.96)


@pytest.mark.parametrize(("threshold", "kept"), [(0.95, 1), (0.97, 2)])
async def test_the_threshold_decides(threshold: float, kept: int) -> None:
    result = await deduplicate(
        ["north", "north by east"], Embedder(), threshold_cosine=threshold, same_words=False
    )

    assert len(result.selected) == kept


async def test_all_repetitions_return_without_embedding() -> None:
    embed = Embedder()

    result = await deduplicate(
        ["north", "North", "NORTH"], embed, same_words=False, threshold_cosine=0.9
    )

    assert result.selected == ("north",)
    assert result.embedded == 0
    assert embed.texts == []


async def test_a_near_text_with_another_word_stays_unless_the_cosine_decides() -> None:
    texts = ["north", "north by east"]

    strict = await deduplicate(texts, Embedder(), threshold_cosine=0.9)
    loose = await deduplicate(texts, Embedder(), threshold_cosine=0.9, same_words=False)

    assert strict.selected == ("north", "north by east")
    assert loose.selected == ("north",)


async def test_articles_marks_and_order_make_no_other_text() -> None:
    texts = ["The limit is 60.", "Limit: 60"]

    async def alike(given: Sequence[str]) -> Sequence[DenseVector]:
        return [unit("north") for _ in given]

    result = await deduplicate(texts, alike, threshold_cosine=0.9)

    assert result.selected == ("The limit is 60.",)
    assert result.filtered[0].exact is False


async def test_code_that_differs_in_a_mark_is_other_code() -> None:
    async def alike(given: Sequence[str]) -> Sequence[DenseVector]:
        return [unit("north") for _ in given]

    texts = [">>> '1,2'.split(',')", ">>> '1 2'.split()"]

    result = await deduplicate(texts, alike, threshold_cosine=0.9)

    assert result.selected == tuple(texts)


async def test_a_reference_filters_what_is_known_already() -> None:
    reference = Reference(("known:0",), ("north",), np.stack([unit("north")]))

    result = await deduplicate(
        ["north by east", "north", "east"],
        Embedder(),
        same_words=False,
        threshold_cosine=0.9,
        reference=reference,
    )

    assert result.selected == ("east",)
    assert {f.duplicate_of for f in result.filtered} == {"known:0"}
    assert [f.exact for f in result.filtered] == [False, True]


async def test_no_text_gives_no_text() -> None:
    result = await deduplicate([], Embedder(), same_words=False, threshold_cosine=0.9)

    assert result.selected == ()
    assert result.filtered == ()


@pytest.mark.parametrize("threshold", [0.0, 1.1, -1.0])
async def test_a_threshold_that_is_no_cosine_is_refused(threshold: float) -> None:
    with pytest.raises(BadInputError, match="threshold"):
        await deduplicate(["north"], Embedder(), threshold_cosine=threshold, same_words=False)


@given(st.lists(st.sampled_from(["north", "NORTH", "north by east", "east", "East "])))
async def test_every_text_is_selected_or_listed_with_its_match(texts: list[str]) -> None:
    result = await deduplicate(texts, Embedder(), same_words=False, threshold_cosine=0.9)

    left_out = {item.index: item for item in result.filtered}
    assert sorted([*result.selected_indices, *left_out]) == list(range(len(texts)))
    assert result.selected == tuple(texts[at] for at in result.selected_indices)
    for item in result.filtered:
        assert item.text == texts[item.index]
        assert item.duplicate_of in result.selected_indices
        assert isinstance(item.duplicate_of, int)
        same = fold(item.text) == fold(texts[item.duplicate_of])
        assert item.exact == same
