"""Dense embedding: the port, and the ONNX adapter behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.chunk import DenseVector
from retrieval.errors import InputTooLongError, ModelUnavailableError
from retrieval.models import ModelSpec, ResolvedModel, advice
from retrieval.tokens import Tokenizer

if TYPE_CHECKING:
    from fastembed import TextEmbedding

# One text at a time is the fastest on a processor and needs 300 MB; a batch of 8 needs 700 MB.
_BATCH_SIZE = 1
_SPECIAL_TOKENS = 2
_DEFAULT_INPUT_LIMIT_TOKENS = 512
_registering = Lock()

Device: TypeAlias = Literal["cpu", "cuda"]


class DenseEmbedder(Protocol):
    """Turns texts into unit vectors. Every method blocks: call it from a thread."""

    @property
    def spec(self) -> ModelSpec:
        """What the model expects and gives; ``dimension`` is after any cut."""
        ...

    @property
    def digest(self) -> str:
        """Identifies the model's files and the cut; vectors of equal digests are comparable."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's own tokenizer."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> list[DenseVector]:
        """Embed passages, the passage prefix added here.

        Returns:
            One vector per text, shape (dimension,), float32, unit length.

        Raises:
            InputTooLongError: A text with its prefix is over the model's input limit.
        """
        ...

    def embed_query(self, text: str) -> DenseVector:
        """Embed one query, the query prefix added here.

        Returns:
            Shape (dimension,), float32, unit length.

        Raises:
            InputTooLongError: The query with its prefix is over the model's input limit.
        """
        ...


class Described(Protocol):
    """A dense model by what is known of it."""

    @property
    def spec(self) -> ModelSpec:
        """What the model expects and gives; ``dimension`` is after any cut."""
        ...

    @property
    def digest(self) -> str:
        """Identifies the model's files and the cut."""
        ...


@dataclass(frozen=True, slots=True)
class DescribedModel:
    """A dense model that is not loaded."""

    spec: ModelSpec
    digest: str


def describe(resolved: ResolvedModel, *, cut_dimension: int) -> tuple[ModelSpec, str]:
    """Return the spec and digest of a model as it is used here.

    Args:
        resolved: Its ``spec.dimension`` is known.
        cut_dimension: Numbers of each vector that are kept; 0 keeps all.
    """
    spec = replace(
        resolved.spec,
        dimension=cut_dimension or resolved.spec.dimension,
        input_limit_tokens=resolved.spec.input_limit_tokens or _DEFAULT_INPUT_LIMIT_TOKENS,
    )
    return spec, resolved.digest + (f"/{cut_dimension}" if cut_dimension else "")


class FastembedEmbedder:
    """Runs one ONNX model through fastembed.

    Args:
        resolved: The model and where its files are.
        threads: Threads of the ONNX session; more than one is slower for short texts.
        cut_dimension: Keep only the first so many numbers of each vector and renormalise
            (Matryoshka models); 0 keeps all.
        device: Where it runs.

    Raises:
        ModelUnavailableError: The model cannot be loaded here.
    """

    def __init__(
        self,
        resolved: ResolvedModel,
        *,
        threads: int = 1,
        cut_dimension: int = 0,
        device: Device = "cpu",
    ) -> None:
        self._model = _load(resolved, threads, device)
        spec = resolved.spec
        self._tokenizer = Tokenizer(_tokenizer_definition(resolved, self._model))
        dimension = spec.dimension or self._model.embedding_size
        if cut_dimension > dimension:
            raise ModelUnavailableError(
                f"{spec.name} gives {dimension} numbers a vector, so it cannot keep {cut_dimension}"
            )
        self._cut = cut_dimension
        known = replace(resolved, spec=replace(spec, dimension=dimension))
        self._spec, self._digest = describe(known, cut_dimension=cut_dimension)

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
        return self._embed([self._spec.passage_prefix + text for text in texts])

    def embed_query(self, text: str) -> DenseVector:
        """Embed one query, the query prefix added here."""
        return self._embed([self._spec.query_prefix + text])[0]

    def _embed(self, texts: list[str]) -> list[DenseVector]:
        limit = self._spec.input_limit_tokens - _SPECIAL_TOKENS
        for text, tokens in zip(texts, self._tokenizer.count_many(texts), strict=True):
            if tokens > limit:
                raise InputTooLongError(
                    f"a text of {tokens} tokens is over the {limit} that {self._spec.name} reads: "
                    f"{text[:60]!r}..."
                )
        return [self._unit(row) for row in self._model.embed(texts, batch_size=_BATCH_SIZE)]

    def _unit(self, row: NDArray[np.generic]) -> DenseVector:
        vector = np.asarray(row, dtype=np.float32)
        if self._cut:
            vector = vector[: self._cut]
        length = float(np.linalg.norm(vector))
        return vector / np.float32(length) if length > 0 else vector


def _load(resolved: ResolvedModel, threads: int, device: Device) -> TextEmbedding:
    from fastembed import TextEmbedding  # noqa: PLC0415 - a second of import, only where models run

    is_cuda = device == "cuda"
    if is_cuda:
        _require_cuda()
    try:
        if resolved.directory is None:
            return TextEmbedding(
                resolved.spec.name, threads=threads, cuda=is_cuda, local_files_only=True
            )
        return TextEmbedding(
            _register(resolved, resolved.directory),
            specific_model_path=str(resolved.directory),
            threads=threads,
            cuda=is_cuda,
        )
    except Exception as error:  # fastembed and ONNX Runtime raise many kinds
        raise ModelUnavailableError(advice(resolved.spec.name)) from error


def _require_cuda() -> None:
    """Do nothing where the runtime can use a graphics card: it would fall back without a word."""
    onnxruntime: Any = import_module("onnxruntime")  # it has no types

    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        raise ModelUnavailableError(
            "VOUCH_EMBEDDING_DEVICE is cuda, and this ONNX Runtime is built without it: install "
            "onnxruntime-gpu (the image of compose.cuda.yaml has it), or use cpu"
        )


def _tokenizer_definition(resolved: ResolvedModel, model: TextEmbedding) -> str:
    if resolved.directory is not None:
        return (resolved.directory / "tokenizer.json").read_text(encoding="utf-8")
    return str(model.model.tokenizer.to_str())  # type: ignore[attr-defined]


def _register(resolved: ResolvedModel, directory: Path) -> str:
    """Make a directory known to fastembed under a name of its own, once per process."""
    from fastembed import TextEmbedding  # noqa: PLC0415 - see _load
    from fastembed.common.model_description import ModelSource, PoolingType  # noqa: PLC0415

    model_file = "model.onnx" if (directory / "model.onnx").is_file() else "onnx/model.onnx"
    name = f"vouch/{resolved.digest.removeprefix('sha256:')[:16]}-{resolved.spec.pooling}"
    with _registering:
        if name not in {str(known["model"]) for known in TextEmbedding.list_supported_models()}:
            TextEmbedding.add_custom_model(
                model=name,
                pooling=PoolingType(resolved.spec.pooling.upper()),
                normalization=True,
                sources=ModelSource(hf=name),
                dim=resolved.spec.dimension,
                model_file=model_file,
            )
    return name
