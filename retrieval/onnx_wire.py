"""ONNX files on the wire: as much of the format as rewriting one graph needs, and no more.

The library that reads and writes all of it weighs thirty megabytes, for one rewriting in the life
of an installation. Field numbers are those of ``onnx.proto``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
_Fields: TypeAlias = Mapping[int, Sequence[int | memoryview]]

_DTYPES: dict[int, str] = {1: "<f4", 3: "|i1", 6: "<i4", 7: "<i8"}
_CODES = {np.dtype(name): code for code, name in _DTYPES.items()}
ELEMENT_CODES: Mapping[Literal["float32", "int32", "int64"], int] = {
    "float32": 1,
    "int32": 6,
    "int64": 7,
}
"""Number of an element type, as casts and values name it."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FLOAT_ATTRIBUTE, _INTEGER_ATTRIBUTE = 1, 2
_CONTINUES = 0x80
_GRAPH, _NODE, _INITIALIZER = 7, 1, 5


@dataclass(frozen=True, slots=True)
class Node:
    """One operator.

    Attributes:
        domain: Empty for the standard operators.
    """

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, int | float] = field(default_factory=dict[str, "int | float"])
    domain: str = ""


@dataclass(frozen=True, slots=True)
class Graph:
    """What a file says that a rewriting reads.

    Attributes:
        nodes: Without their attributes.
        tensors: Weights by name.
    """

    nodes: tuple[Node, ...]
    tensors: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Value:
    """An input or output: its element type and its sizes, a name for one that varies."""

    name: str
    element: Literal["float32", "int32", "int64"]
    sizes: tuple[int | str, ...]


def read_graph(content: bytes) -> Graph:
    """Return the nodes and weights of an ONNX file.

    Raises:
        ValueError: It is no such file.
    """
    graphs = _parts(_grouped(memoryview(content)), _GRAPH)
    if not graphs:
        raise ValueError("the file holds no graph")
    fields = _grouped(graphs[0])
    tensors = dict(_read_tensor(_grouped(each)) for each in _parts(fields, _INITIALIZER))
    nodes = tuple(_read_node(_grouped(each)) for each in _parts(fields, _NODE))
    return Graph(nodes, tensors)


def write_model(
    nodes: Sequence[Node],
    tensors: Mapping[str, Array],
    *,
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    operator_sets: Mapping[str, int],
) -> bytes:
    """Return an ONNX file; the same arguments give the same bytes on every machine."""
    graph = b"".join(
        (
            *(_part(1, _node(node)) for node in nodes),
            _text(2, "fused"),
            *(_part(5, _tensor(name, tensor)) for name, tensor in tensors.items()),
            *(_part(11, _value(value)) for value in inputs),
            *(_part(12, _value(value)) for value in outputs),
        )
    )
    sets = (
        _part(8, _text(1, domain) + _integer(2, version))
        for domain, version in operator_sets.items()
    )
    return b"".join((_integer(1, 10), _part(7, graph), *sets))


def _read_node(fields: _Fields) -> Node:
    return Node(
        operator="".join(_texts(fields, 4)),
        inputs=_texts(fields, 1),
        outputs=_texts(fields, 2),
        domain="".join(_texts(fields, 7)),
    )


def _read_tensor(fields: _Fields) -> tuple[str, Array]:
    name = "".join(_texts(fields, 8))
    dtype = _DTYPES.get(next(iter(_numbers(fields, 2)), 0))
    if dtype is None:
        return name, np.empty(0)  # of a kind no rewriting needs: flags and the like
    values = np.frombuffer(b"".join(_parts(fields, 9)), dtype=dtype)
    return name, values.reshape(_numbers(fields, 1)) if values.size else values


def _grouped(content: memoryview) -> _Fields:
    fields: dict[int, list[int | memoryview]] = {}
    for number, value in _fields(content):
        fields.setdefault(number, []).append(value)
    return fields


def _parts(fields: _Fields, number: int) -> list[memoryview]:
    return [value for value in fields.get(number, ()) if isinstance(value, memoryview)]


def _texts(fields: _Fields, number: int) -> tuple[str, ...]:
    return tuple(str(part, "utf-8") for part in _parts(fields, number))


def _numbers(fields: _Fields, number: int) -> list[int]:
    """Return numbers that stand one by one or packed into one part."""
    found: list[int] = []
    for value in fields.get(number, ()):
        found += [value] if isinstance(value, int) else _packed(value)
    return found


def _fields(content: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    at = 0
    while at < len(content):
        key, at = _read_varint(content, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _read_varint(content, at)
            yield number, value
        elif kind == _BYTES:
            size, at = _read_varint(content, at)
            yield number, content[at : at + size]
            at += size
        elif kind in {_FIXED32, _FIXED64}:
            at += 4 if kind == _FIXED32 else 8
        else:
            raise ValueError("the file is not in the format of protocol buffers")


def _read_varint(content: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(content):
        byte = content[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < _CONTINUES:
            return value, at
        shift += 7
    raise ValueError("the file ends too early")


def _packed(content: memoryview) -> list[int]:
    values: list[int] = []
    at = 0
    while at < len(content):
        value, at = _read_varint(content, at)
        values.append(value)
    return values


def _node(node: Node) -> bytes:
    return b"".join(
        (
            *(_text(1, name) for name in node.inputs),
            *(_text(2, name) for name in node.outputs),
            _text(4, node.operator),
            *(_part(5, _attribute(name, value)) for name, value in node.attributes.items()),
            *((_text(7, node.domain),) if node.domain else ()),
        )
    )


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, float):
        number = _key(2, _FIXED32) + struct.pack("<f", value)
        return _text(1, name) + number + _integer(20, _FLOAT_ATTRIBUTE)
    return _text(1, name) + _integer(3, value) + _integer(20, _INTEGER_ATTRIBUTE)


def _tensor(name: str, tensor: Array) -> bytes:
    dims = b"".join(_integer(1, size) for size in tensor.shape)
    code = _integer(2, _CODES[tensor.dtype])
    return dims + code + _text(8, name) + _part(9, np.ascontiguousarray(tensor).tobytes())


def _value(value: Value) -> bytes:
    sizes = b"".join(
        _part(1, _text(2, size) if isinstance(size, str) else _integer(1, size))
        for size in value.sizes
    )
    kind = _integer(1, ELEMENT_CODES[value.element]) + _part(2, sizes)
    return _text(1, value.name) + _part(2, _part(1, kind))


def _key(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _part(number: int, content: bytes) -> bytes:
    return _key(number, _BYTES) + _varint(len(content)) + content


def _text(number: int, text: str) -> bytes:
    return _part(number, text.encode())


def _integer(number: int, value: int) -> bytes:
    return _key(number, _VARINT) + _varint(value)


def _varint(value: int) -> bytes:
    written = bytearray()
    while value >= _CONTINUES:
        written.append(value & 0x7F | _CONTINUES)
        value >>= 7
    written.append(value)
    return bytes(written)
