"""Learned sparse encoders by fastembed name or directory: SPLADE, BM42. Optional."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.chunk import SparseVector
from retrieval.errors import ModelUnavailableError
from retrieval.sparse import Term, heaviest_terms

if TYPE_CHECKING:
    from fastembed import SparseTextEmbedding
    from fastembed.sparse.sparse_embedding_base import SparseEmbedding

_BATCH_SIZE = 1

# A directory is loaded as this registered model: any network with one logit per vocabulary entry.
_LOADED_AS = "prithivida/Splade_PP_en_v1"
_WITH_IDF = frozenset({"Qdrant/bm42-all-minilm-l6-v2-attentions"})

# Learned weights have no bound by formula; SPLADE's log(1 + logit) rarely passes three.
_SATURATION = 3.0


class FastembedSparseEncoder:
    """A learned sparse model. Its calls block as long as the model takes.

    Args:
        model: A directory with ``model.onnx`` and the tokenizer's files, or a name in fastembed's
            cache.

    Raises:
        ModelUnavailableError: The model cannot be loaded here.
    """

    def __init__(self, model: str) -> None:
        directory = Path(model).expanduser()
        self._name = directory.name if directory.is_dir() else model
        self._model = _load(model, directory if directory.is_dir() else None)

    @property
    def name(self) -> str:
        """Name of the model or of its directory, for the build's stamp."""
        return self._name

    @property
    def saturation(self) -> float:
        """Most that one term usually weighs in a document."""
        return _SATURATION

    @property
    def uses_idf(self) -> bool:
        """Whether a query's terms are multiplied by their IDF: BM42's are, SPLADE's are not."""
        return self._name in _WITH_IDF

    def fitted(self, texts: Iterable[str]) -> FastembedSparseEncoder:  # noqa: ARG002 - learned
        """Return itself: a learned model's weights do not depend on the corpus."""
        return self

    def embed_document(self, text: str) -> SparseVector:
        """Return the model's weights of a passage."""
        return _vector(next(iter(self._model.embed([text], batch_size=_BATCH_SIZE))))

    def embed_query(self, text: str) -> SparseVector:
        """Return the model's weights of a query."""
        return _vector(next(iter(self._model.query_embed(text))))

    def terms(self, text: str) -> tuple[Term, ...]:
        """Return for each word of the text the term it weighs heaviest on, each term once."""
        words = list(dict.fromkeys(text.split()))
        return heaviest_terms(words, [self.embed_query(word) for word in words])


def _vector(embedding: SparseEmbedding) -> SparseVector:
    pairs = sorted(zip(embedding.indices.tolist(), embedding.values.tolist(), strict=True))
    return SparseVector(tuple(int(i) for i, _ in pairs), tuple(float(v) for _, v in pairs))


def _load(model: str, directory: Path | None) -> SparseTextEmbedding:
    from fastembed import SparseTextEmbedding  # noqa: PLC0415 - a second of import

    try:
        if directory is None:
            return SparseTextEmbedding(model, threads=1, local_files_only=True)
        return SparseTextEmbedding(_LOADED_AS, specific_model_path=str(directory), threads=1)
    except Exception as error:  # fastembed and ONNX Runtime raise many kinds
        raise ModelUnavailableError(
            f"the sparse model {model!r} is not on this machine; name a directory with its files "
            "in the profile's sparse.model, or use bm25, which needs none"
        ) from error
