from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from context.contract import FittedEvidence
from context.errors import BadInputError
from context.evidence import EvidenceRequest, fit_evidence
from retrieval.chunk import Chunk, DenseVector, Occurrence
from retrieval.store import StoredPoint
from tests.ingestion.words import WordTokenizer

PORT = "The port is set by PORT. Nobody remembers who chose it. It is 8000 by default."
SAME = "The port is set by PORT. Nobody remembers who chose it. It is the 8000 by default."
HOST = "The host is set by HOST. It is only reachable from this machine."
VECTORS = {PORT: (1.0, 0.0), SAME: (0.99, 0.14106736), HOST: (0.0, 1.0)}


@dataclass
class Model:
    """Finds sentences with a number near, and counts what it embeds."""

    embedded: list[str] = field(default_factory=list[str])

    @property
    def tokenizer(self) -> WordTokenizer:
        return WordTokenizer()

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[DenseVector]:
        self.embedded += texts
        return [self._vector(text) for text in texts]

    async def embed_query(self, text: str) -> DenseVector:
        return np.asarray((1.0, 0.0), dtype=np.float32)

    def _vector(self, text: str) -> DenseVector:
        return np.asarray((1.0, 0.0) if "8000" in text else (0.0, 1.0), dtype=np.float32)


def stored(**texts: str) -> dict[str, StoredPoint]:
    place = Occurrence(
        source="s", document_id="d", source_url="u", title="t", section_heading="h",
        parent_heading="", position=0,
    )  # fmt: skip
    return {
        chunk_id: StoredPoint(
            Chunk(chunk_id=chunk_id, text=text, text_for_embedding=text, occurrences=(place,)),
            np.asarray(VECTORS[text], dtype=np.float32),
        )
        for chunk_id, text in texts.items()
    }


async def fit(
    points: dict[str, StoredPoint],
    *,
    known: tuple[str, ...] = (),
    share: float = 1.0,
    budget: int | None = None,
    model: Model | None = None,
) -> FittedEvidence:
    asked = tuple(chunk_id for chunk_id in points if chunk_id not in known)
    request = EvidenceRequest("Which port is the default?", asked, known, share, budget, 0.9)
    return await fit_evidence(request, points, model or Model())


async def test_what_fits_and_repeats_nothing_stays_whole_and_nothing_is_embedded() -> None:
    model = Model()
    fitted = await fit(stored(port=PORT, host=HOST), model=model)
    assert [(each.id, each.text) for each in fitted.passages] == [("port", PORT), ("host", HOST)]
    assert fitted.tokens == fitted.origin_tokens
    assert model.embedded == []


async def test_a_repetition_is_left_out_and_names_what_it_repeats() -> None:
    fitted = await fit(stored(port=PORT, same=SAME, host=HOST))
    assert [each.text for each in fitted.passages] == [PORT, "", HOST]
    (repeat,) = fitted.filtered
    assert (repeat.index, repeat.duplicate_of) == (1, "port")
    assert repeat.cosine == pytest.approx(0.99, abs=1e-3)
    assert [(each.stage, each.passages) for each in fitted.ledger] == [
        ("search", 3),
        ("deduplicate", 2),
        ("compress", 2),
    ]
    assert fitted.ledger[1].dropped == ("same",)


async def test_what_the_reader_has_already_is_not_given_again() -> None:
    fitted = await fit(stored(port=PORT, same=SAME, host=HOST), known=("port",))
    assert [each.text for each in fitted.passages] == ["", HOST]
    assert fitted.filtered[0].duplicate_of == "port"


@pytest.mark.parametrize(("share", "budget"), [(0.4, None), (1.0, 12), (0.4, 1000), (0.9, 12)])
async def test_the_smaller_bound_holds_and_what_answers_stays(
    share: float, budget: int | None
) -> None:
    points = stored(port=PORT, host=HOST)
    fitted = await fit(points, share=share, budget=budget)
    limit = min(int(fitted.origin_tokens * share), budget or 1000)
    assert 0 < fitted.tokens <= limit
    assert "8000" in fitted.passages[0].text
    for each in fitted.passages:
        whole = points[each.id].chunk.text
        assert [whole[span.start : span.end] in each.text for span in each.kept] == [True] * len(
            each.kept
        )
    assert sum(stage.saved_tokens for stage in fitted.ledger) == (
        fitted.origin_tokens - fitted.tokens
    )


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1])
async def test_a_share_that_cannot_be_is_refused(share: float) -> None:
    with pytest.raises(BadInputError, match="share"):
        await fit(stored(port=PORT), share=share)
