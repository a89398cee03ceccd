"""The packaged model's graph, rewritten with fused operators: equal vectors for less work.

The packaged file holds int8 weights under the exporter's hundred small operators, which the runtime
unfolds into float32 at every start and cannot fuse by itself. Here attention becomes one operator
and each residual sum another; the weights of the multiplications are unfolded once, and the table
of word vectors stays in int8, of which a text needs only its own rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from retrieval.onnx_wire import (
    ELEMENT_CODES,
    Array,
    Graph,
    Node,
    Value,
    read_graph,
    write_model,
)

_FUSED = "com.microsoft"
_HEADS = 12
_LAYERS = 6
_EPSILON = 1e-12
_EMBEDDINGS = "inner.embeddings."
_IDS, _MASK, _KINDS = "input_ids", "attention_mask", "token_type_ids"
_RESULT = "last_hidden_state"

_Floats = NDArray[np.float32]


def fuse_graph(packaged: bytes) -> bytes:
    """Return the fused model of the packaged one.

    Args:
        packaged: The packaged all-MiniLM-L6-v2 file.

    Raises:
        ValueError: It is not that file.
    """
    return _Fusing(read_graph(packaged)).run()


class _Fusing:
    """Builds the new graph, in order. Used once."""

    def __init__(self, graph: Graph) -> None:
        self._given = graph.tensors
        self._weights = _weights_by_bias(graph.nodes)
        self._nodes: list[Node] = []
        self._tensors: dict[str, Array] = {}

    def run(self) -> bytes:
        """Return the new file."""
        try:
            hidden = self._embed()
            for layer in range(_LAYERS):
                hidden = self._layer(layer, hidden)
        except KeyError as error:
            raise ValueError(f"the model has no {error.args[0]}") from error
        return write_model(
            self._nodes,
            self._tensors,
            inputs=[Value(n, "int64", ("batch", "sequence")) for n in (_IDS, _MASK, _KINDS)],
            outputs=[Value(_RESULT, "float32", ("batch", "sequence", 384))],
            operator_sets={"": 17, _FUSED: 1},
        )

    def _embed(self) -> str:
        words = self._tensor("words", self._given[_EMBEDDINGS + "word_embeddings.weight_q"])
        scales = self._tensor("scales", self._given[_EMBEDDINGS + "word_embeddings.weight_scale"])
        rows = self._node("Gather", words, _IDS)
        row_scales = self._node("Gather", scales, _IDS)
        word = self._node("Mul", self._cast(rows, "float32"), row_scales)
        kinds = self._tensor("kinds", self._given[_EMBEDDINGS + "token_type_embeddings.weight"])
        kind = self._node("Gather", kinds, _KINDS)
        places = self._tensor("places", self._floats(_EMBEDDINGS + "position_embeddings.weight"))
        start = self._tensor("start", np.zeros(1, dtype="<i8"))
        length = self._node("Shape", _IDS, start=1, end=2)
        place = self._node("Slice", places, start, length)
        self._cast(_MASK, "int32", "mask")
        return self._normalise(_EMBEDDINGS + "LayerNorm", word, kind, place)

    def _layer(self, layer: int, hidden: str) -> str:
        given = f"inner.encoder.layer.{layer}."
        attention = given + "attention."
        attended = self._attend(attention + "self.", hidden)
        mixed = self._multiply(attended, attention + "output.dense")
        bias = self._own(attention + "output.dense.bias")
        middle = self._normalise(attention + "output.LayerNorm", mixed, hidden, bias)
        wide = self._multiply(middle, given + "intermediate.dense")
        curved = self._node(
            "BiasGelu", wide, self._own(given + "intermediate.dense.bias"), domain=_FUSED
        )
        narrow = self._multiply(curved, given + "output.dense")
        bias = self._own(given + "output.dense.bias")
        name = _RESULT if layer == _LAYERS - 1 else ""
        return self._normalise(given + "output.LayerNorm", narrow, middle, bias, name=name)

    def _attend(self, given: str, hidden: str) -> str:
        projections = [given + name for name in ("query", "key", "value")]
        weights = np.concatenate([self._matrix(each) for each in projections], axis=1)
        biases = np.concatenate([self._given[f"{each}.bias"] for each in projections])
        return self._node(
            "Attention",
            hidden,
            self._tensor(given + "weights", weights),
            self._tensor(given + "biases", biases),
            "mask",
            domain=_FUSED,
            num_heads=_HEADS,
        )

    def _normalise(self, given: str, *summands: str, name: str = "") -> str:
        # One sum of three: the runtime's own fusion of pairs with the normalisation is slower.
        total = self._node("Sum", *summands)
        weight, bias = self._own(given + ".weight"), self._own(given + ".bias")
        return self._node(
            "LayerNormalization", total, weight, bias, name=name, axis=2, epsilon=_EPSILON
        )

    def _multiply(self, left: str, given: str) -> str:
        return self._node("MatMul", left, self._tensor(given + ".weight", self._matrix(given)))

    def _matrix(self, given: str) -> _Floats:
        return self._floats(self._weights[given + ".bias"])

    def _floats(self, name: str) -> _Floats:
        values = self._given[name + "_q"].astype("<f4")
        return np.asarray(values * self._given[name + "_scale"], dtype="<f4")

    def _cast(self, name: str, to: Literal["float32", "int32"], result: str = "") -> str:
        return self._node("Cast", name, name=result, to=ELEMENT_CODES[to])

    def _own(self, name: str) -> str:
        return self._tensor(name, self._given[name])

    def _tensor(self, name: str, values: Array) -> str:
        self._tensors[name] = values
        return name

    def _node(
        self, operator: str, *inputs: str, domain: str = "", name: str = "", **attributes: float
    ) -> str:
        result = name or f"n{len(self._nodes)}"
        self._nodes.append(Node(operator, inputs, (result,), attributes, domain))
        return result


def _weights_by_bias(nodes: Sequence[Node]) -> dict[str, str]:
    """Return the name of the matrix that is multiplied before each bias is added."""
    multiplied = {n.outputs[0]: n.inputs[1] for n in nodes if n.operator == "MatMul"}
    return {
        bias: multiplied[product]
        for node in nodes
        if node.operator == "Add"
        for product, bias in (node.inputs, node.inputs[::-1])
        if product in multiplied
    }
