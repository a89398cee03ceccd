"""Dense embedding by ONNX Runtime alone, for a model whose files are in a directory.

The library that loads models by name brings a hub client, image code and a second tokenizer: half
a second and forty megabytes of every process that embeds. A model in a directory needs neither.
Texts go through one at a time, which is fastest on a processor.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from retrieval.chunk import DenseVector
from retrieval.errors import InputTooLongError, ModelUnavailableError
from retrieval.models import ModelSpec, Pooling, ResolvedModel, advice, model_file
from retrieval.tokens import Tokenizer

_DEFAULT_INPUT_LIMIT_TOKENS = 512
_SPECIAL_TOKENS = 2
_IDS, _MASK, _KINDS = "input_ids", "attention_mask", "token_type_ids"
_WARNINGS_AND_WORSE = 3


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class _Session(Protocol):
    """What is used of the runtime's session, which carries no types of its own."""

    def get_inputs(self) -> Sequence[_Named]: ...

    def run(
        self, output_names: None, input_feed: Mapping[str, NDArray[np.int64]]
    ) -> Sequence[NDArray[np.float32]]: ...


class OnnxEmbedder:
    """Runs one ONNX model; safe to share between threads, each of which then uses a core.

    Args:
        resolved: The model, its files in a directory.
        threads: Threads of the session; more than one is slower for short texts.
        cut_dimension: Keep only the first so many numbers of each vector and renormalise
            (Matryoshka models); 0 keeps all.

    Raises:
        ModelUnavailableError: The model cannot be loaded here.
    """

    def __init__(
        self, resolved: ResolvedModel, *, threads: int = 1, cut_dimension: int = 0
    ) -> None:
        if resolved.directory is None:
            raise ModelUnavailableError(advice(resolved.spec.name))
        spec = resolved.spec
        definition = (resolved.directory / "tokenizer.json").read_text(encoding="utf-8")
        self._tokenizer = Tokenizer(definition)
        self._session = _open(resolved.directory, threads, spec.name)
        self._inputs = frozenset(each.name for each in self._session.get_inputs())
        self._pooling: Pooling = spec.pooling
        dimension = spec.dimension or self._measure()
        if cut_dimension > dimension:
            raise ModelUnavailableError(
                f"{spec.name} gives {dimension} numbers a vector, so it cannot keep {cut_dimension}"
            )
        self._cut = cut_dimension
        self._spec = replace(
            spec,
            dimension=cut_dimension or dimension,
            input_limit_tokens=spec.input_limit_tokens or _DEFAULT_INPUT_LIMIT_TOKENS,
        )
        self._digest = resolved.digest + (f"/{cut_dimension}" if cut_dimension else "")

    @property
    def spec(self) -> ModelSpec:
        """What the model expects and gives; ``dimension`` is after any cut."""
        return self._spec

    @property
    def digest(self) -> str:
        """Identifies the model's files and the cut."""
        return self._digest

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's own tokenizer."""
        return self._tokenizer

    def embed_passages(self, texts: Sequence[str]) -> list[DenseVector]:
        """Embed passages, the passage prefix added here."""
        found = [self._read(self._spec.passage_prefix + text) for text in texts]
        return [self._embed(ids) for ids in found]

    def embed_query(self, text: str) -> DenseVector:
        """Embed one query, the query prefix added here."""
        return self._embed(self._read(self._spec.query_prefix + text))

    def _read(self, text: str) -> list[int]:
        ids, tokens = self._tokenizer.encode(text)
        limit = self._spec.input_limit_tokens - _SPECIAL_TOKENS
        if tokens > limit:
            raise InputTooLongError(
                f"a text of {tokens} tokens is over the {limit} that {self._spec.name} reads: "
                f"{text[:60]!r}..."
            )
        return ids

    def _embed(self, ids: list[int]) -> DenseVector:
        pooled = self._pool(self._run(ids))
        vector = pooled[: self._cut] if self._cut else pooled
        length = float(np.linalg.norm(vector))
        return np.asarray(vector / length if length > 0 else vector, dtype=np.float32)

    def _run(self, ids: list[int]) -> NDArray[np.float32]:
        """Return the hidden states of one text, shape (n_tokens, dimension)."""
        row = np.array([ids], dtype=np.int64)
        offered: Mapping[str, NDArray[np.int64]] = {
            _IDS: row,
            _MASK: np.ones_like(row),
            _KINDS: np.zeros_like(row),
        }
        wanted = {name: values for name, values in offered.items() if name in self._inputs}
        return self._session.run(None, wanted)[0][0]

    def _pool(self, hidden: NDArray[np.float32]) -> NDArray[np.float64]:
        if hidden.ndim == 1:  # the model pools by itself
            return hidden.astype(np.float64)
        if self._pooling == "cls":
            return hidden[0].astype(np.float64)
        if self._pooling == "last_token":
            return hidden[-1].astype(np.float64)
        return np.asarray(hidden.mean(axis=0, dtype=np.float64))

    def _measure(self) -> int:
        return int(self._pool(self._run(self._tokenizer.encode("a")[0])).shape[0])


def _open(directory: Path, threads: int, name: str) -> _Session:
    # The runtime carries few types: what is used of it is written down above.
    runtime: Any = importlib.import_module("onnxruntime")  # only where models run
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _WARNINGS_AND_WORSE
    # The arena keeps the loading's peak for good; texts of one at a time gain nothing from it.
    options.enable_cpu_mem_arena = False
    try:
        return cast(
            "_Session",
            runtime.InferenceSession(
                str(model_file(directory)), options, providers=["CPUExecutionProvider"]
            ),
        )
    except Exception as error:  # the runtime raises many kinds
        raise ModelUnavailableError(advice(name)) from error
