"""Late interaction and learned sparse encoders, over tiny networks made on the spot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from retrieval.errors import ModelUnavailableError
from retrieval.late import FastembedLateEmbedder
from retrieval.profiles import SearchProfile
from retrieval.sparse_models import FastembedSparseEncoder
from retrieval.tokens import Tokenizer
from tests.retrieval.corpus import LATE_DIMENSION, chunk_id
from tests.retrieval.rig import Rig, ask, gateway_corpus
from tests.retrieval.tiny_models import write_sparse_model, write_token_embedder


def test_a_late_model_gives_unit_rows_one_per_token(tmp_path: Path, models_dir: Path) -> None:
    directory = write_token_embedder(tmp_path / "late", models_dir, LATE_DIMENSION)
    late = FastembedLateEmbedder(str(directory), LATE_DIMENSION)
    passages = late.embed_passages(["one two", "one two three four"])
    assert [rows.shape[1] for rows in passages] == [LATE_DIMENSION] * 2
    assert len(passages[1]) == len(passages[0]) + 2
    np.testing.assert_allclose(np.linalg.norm(passages[0], axis=1), 1.0, atol=1e-5)
    assert late.embed_query("one").shape[1] == LATE_DIMENSION
    assert (late.name, late.dimension) == ("late", LATE_DIMENSION)


async def test_late_interaction_reorders_and_leaves_the_cosine_alone(
    tmp_path: Path, models_dir: Path, tokenizer: Tokenizer
) -> None:
    directory = write_token_embedder(tmp_path / "late", models_dir, LATE_DIMENSION)
    late = FastembedLateEmbedder(str(directory), LATE_DIMENSION)
    profiles = {
        "default": SearchProfile(),
        "late": SearchProfile(dense_weight=0.0, sparse_weight=0.0, late_weight=1.0),
    }
    rig = Rig(tmp_path, tokenizer, profiles=profiles, late=late)
    points = gateway_corpus()
    rows = late.embed_passages([point.chunk.text_for_embedding for point in points])
    await rig.publish([replace(p, late=matrix) for p, matrix in zip(points, rows, strict=True)])
    plain = await rig.engine.search(ask())
    reordered = await rig.engine.search(ask(profile="late"))
    query = late.embed_query(ask().query)
    query = query / np.linalg.norm(query, axis=1, keepdims=True)
    sums = {
        point.chunk.chunk_id: float((query @ matrix.T).max(axis=1).sum())
        for point, matrix in zip(points, rows, strict=True)
    }
    assert reordered.trace.fused[0] == max(sums, key=lambda chunk: sums[chunk])
    assert reordered.signals.best_cosine == plain.signals.best_cosine
    cosines = {hit.chunk.chunk_id: hit.cosine for hit in reordered.hits}
    assert cosines[chunk_id("dense")] == pytest.approx(0.71, abs=1e-5)
    await rig.engine.close()


def test_a_learned_sparse_model_brings_terms_with_surfaces(
    tmp_path: Path, models_dir: Path
) -> None:
    encoder = FastembedSparseEncoder(str(write_sparse_model(tmp_path / "sparse", models_dir)))
    passage = encoder.embed_document("alpha beta gamma")
    query = encoder.embed_query("beta")
    assert set(query.indices) <= set(passage.indices)
    assert query.indices == tuple(sorted(query.indices))
    assert not encoder.uses_idf
    assert encoder.fitted(["any"]) is encoder


@pytest.mark.parametrize("name", ["colbert-ir/colbertv2.0", "no/such"])
def test_an_absent_model_says_so_at_once(name: str) -> None:
    with pytest.raises(ModelUnavailableError, match=name):
        FastembedLateEmbedder(name, 128)
    with pytest.raises(ModelUnavailableError, match=name):
        FastembedSparseEncoder(name)
