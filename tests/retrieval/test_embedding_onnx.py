from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from retrieval.embedding import FastembedEmbedder
from retrieval.embedding_onnx import OnnxEmbedder
from retrieval.errors import InputTooLongError, ModelUnavailableError
from retrieval.models import DEFAULT_MODEL, ModelSpec, ResolvedModel, resolve_model

TEXTS = (
    "x",
    "How do I define a class?",
    "Ein Satz mit Umlauten: größer, süß; 例えば, 🦀.",
    "A class definition begins with the keyword class. " * 20,
)


@pytest.fixture(scope="module")
def resolved(models_dir: Path) -> ResolvedModel:
    return resolve_model(DEFAULT_MODEL, models_dir)


@pytest.fixture(scope="module")
def embedder(resolved: ResolvedModel) -> OnnxEmbedder:
    return OnnxEmbedder(resolved)


def test_vectors_are_those_of_the_library_that_loads_by_name(
    embedder: OnnxEmbedder, resolved: ResolvedModel
) -> None:
    library = FastembedEmbedder(resolved)
    assert (embedder.digest, embedder.spec) == (library.digest, library.spec)
    for ours, theirs in zip(
        embedder.embed_passages(TEXTS), library.embed_passages(TEXTS), strict=True
    ):
        assert ours.dtype == np.float32
        assert np.linalg.norm(ours) == pytest.approx(1.0, abs=1e-6)
        np.testing.assert_allclose(ours, theirs, atol=2e-6)


def test_a_query_is_embedded_as_a_passage_of_a_model_without_prefixes(
    embedder: OnnxEmbedder,
) -> None:
    np.testing.assert_array_equal(
        embedder.embed_query(TEXTS[1]), embedder.embed_passages([TEXTS[1]])[0]
    )


def test_a_text_over_the_input_limit_is_refused_not_cut(embedder: OnnxEmbedder) -> None:
    assert len(embedder.embed_passages(["word " * 254])) == 1
    with pytest.raises(InputTooLongError, match="255 tokens"):
        embedder.embed_query("word " * 255)


def test_a_cut_dimension_is_renormalised_and_changes_the_digest(
    embedder: OnnxEmbedder, resolved: ResolvedModel
) -> None:
    cut = OnnxEmbedder(resolved, cut_dimension=128)
    expected = embedder.embed_query("a question")[:128]
    assert cut.spec.dimension == 128
    assert cut.digest != embedder.digest
    np.testing.assert_allclose(
        cut.embed_query("a question"), expected / np.linalg.norm(expected), atol=1e-6
    )
    with pytest.raises(ModelUnavailableError, match="384"):
        OnnxEmbedder(resolved, cut_dimension=512)


def test_a_model_without_a_table_entry_is_measured(resolved: ResolvedModel) -> None:
    spec = ModelSpec("own", 0, 0, "", "", 0.5)
    own = OnnxEmbedder(ResolvedModel(spec, resolved.directory, "sha256:x"))
    assert own.spec.dimension == 384
    assert own.spec.input_limit_tokens == 512


@pytest.mark.parametrize("pooling", ["cls", "last_token"])
def test_other_poolings_take_one_token(resolved: ResolvedModel, pooling: str) -> None:
    spec = ModelSpec("own", 384, 256, "", "", 0.5, pooling)  # type: ignore[arg-type]
    own = OnnxEmbedder(ResolvedModel(spec, resolved.directory, "sha256:x"))
    vector = own.embed_query(TEXTS[1])
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)
    mean = OnnxEmbedder(resolved).embed_query(TEXTS[1])
    assert float(vector @ mean) < 0.99


def test_a_broken_model_says_what_to_use(tmp_path: Path, resolved: ResolvedModel) -> None:
    assert resolved.directory is not None
    (tmp_path / "model.onnx").write_bytes(b"x")
    (tmp_path / "tokenizer.json").write_bytes((resolved.directory / "tokenizer.json").read_bytes())
    with pytest.raises(ModelUnavailableError, match="VOUCH_EMBEDDING_MODEL"):
        OnnxEmbedder(resolve_model(str(tmp_path), tmp_path))


def test_serving_a_model_of_a_directory_loads_no_hub_client(resolved: ResolvedModel) -> None:
    code = (
        "import sys; from pathlib import Path; from retrieval.opening import open_local_embedder; "
        "from retrieval.settings import RetrievalSettings; "
        f"s = RetrievalSettings(embedding_model={str(resolved.directory)!r}); "
        "open_local_embedder(s).embed_query('a'); "
        "assert not {'fastembed', 'huggingface_hub', 'PIL'} & set(sys.modules), 'loaded'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
