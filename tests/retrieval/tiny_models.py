"""Tiny networks made on the spot, so that the real loading code runs without any download."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from retrieval.models import DEFAULT_MODEL, resolve_model

_VOCABULARY = 30522


def _write(directory: Path, models_dir: Path, graph: onnx.GraphProto) -> Path:
    packaged = resolve_model(DEFAULT_MODEL, models_dir).directory
    assert packaged is not None
    directory.mkdir(parents=True)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (directory / "model.onnx").write_bytes(model.SerializeToString())
    shutil.copyfile(packaged / "tokenizer.json", directory / "tokenizer.json")
    (directory / "tokenizer_config.json").write_text(
        json.dumps({"model_max_length": 256, "pad_token": "[PAD]"})
    )
    (directory / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (directory / "special_tokens_map.json").write_text(
        json.dumps({"pad_token": "[PAD]", "mask_token": "[MASK]"})
    )
    return directory


def _inputs() -> list[onnx.ValueInfoProto]:
    return [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]


def write_cross_encoder(directory: Path, models_dir: Path) -> Path:
    """Write a cross-encoder whose logit is the number of tokens of the pair."""
    nodes = [
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Constant", [], ["axis"], value=numpy_helper.from_array(np.array([1]))),
        helper.make_node("ReduceSum", ["mask", "axis"], ["logits"], keepdims=1),
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])
    graph = helper.make_graph(nodes, "cross_encoder", _inputs(), [output])
    return _write(directory, models_dir, graph)


def write_token_embedder(directory: Path, models_dir: Path, dimension: int) -> Path:
    """Write a late-interaction model: each token has a fixed random vector."""
    table = np.random.default_rng(7).normal(size=(_VOCABULARY, dimension)).astype(np.float32)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["contextual"])]
    output = helper.make_tensor_value_info(
        "contextual", TensorProto.FLOAT, ["batch", "tokens", dimension]
    )
    graph = helper.make_graph(
        nodes,
        "token_embedder",
        _inputs(),
        [output],
        initializer=[numpy_helper.from_array(table, "table")],
    )
    return _write(directory, models_dir, graph)


def write_sparse_model(directory: Path, models_dir: Path) -> Path:
    """Write a learned sparse model that gives each token a weight on itself alone."""
    nodes = [
        helper.make_node(
            "Constant", [], ["depth"], value=numpy_helper.from_array(np.array(_VOCABULARY))
        ),
        helper.make_node(
            "Constant",
            [],
            ["levels"],
            value=numpy_helper.from_array(np.array([0.0, 1.0], np.float32)),
        ),
        helper.make_node("OneHot", ["input_ids", "depth", "levels"], ["logits"]),
    ]
    output = helper.make_tensor_value_info(
        "logits", TensorProto.FLOAT, ["batch", "tokens", _VOCABULARY]
    )
    return _write(directory, models_dir, helper.make_graph(nodes, "sparse", _inputs(), [output]))
