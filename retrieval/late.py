"""Late interaction: a vector per token, compared with a query by the best match of each token."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from retrieval.chunk import Matrix
from retrieval.errors import ModelUnavailableError
from retrieval.models import advice

if TYPE_CHECKING:
    from fastembed import LateInteractionTextEmbedding

_BATCH_SIZE = 1

# fastembed knows no custom late-interaction model, only its registered ones in another place: a
# directory is loaded as this one, which is the plainest of them (masks, markers, unit rows).
_LOADED_AS = "colbert-ir/colbertv2.0"


class LateEmbedder(Protocol):
    """Turns texts into one unit vector per token. Every method blocks."""

    @property
    def name(self) -> str:
        """Model name or directory name, for the build's stamp."""
        ...

    @property
    def dimension(self) -> int:
        """Length of its rows."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> list[Matrix]:
        """Return one matrix per text, shape (n_tokens, dimension), float32."""
        ...

    def embed_query(self, text: str) -> Matrix:
        """Return the rows of a query, shape (n_tokens, dimension), float32."""
        ...


class FastembedLateEmbedder:
    """Runs a late-interaction model through fastembed.

    Args:
        dimension: Length of its rows, as the profile says.
        model: A directory with ``model.onnx``, ``tokenizer.json``, ``tokenizer_config.json``,
            ``config.json`` and ``special_tokens_map.json``, or a name in fastembed's cache.

    Raises:
        ModelUnavailableError: The model cannot be loaded here.
    """

    def __init__(self, model: str, dimension: int) -> None:
        directory = Path(model).expanduser()
        self._name = directory.name if directory.is_dir() else model
        self._dimension = dimension
        self._model = _load(model, directory if directory.is_dir() else None)

    @property
    def name(self) -> str:
        """Model name or directory name, for the build's stamp."""
        return self._name

    @property
    def dimension(self) -> int:
        """Length of its rows."""
        return self._dimension

    def embed_passages(self, texts: Sequence[str]) -> list[Matrix]:
        """Return one matrix per text, shape (n_tokens, dimension), float32."""
        embedded = self._model.embed(list(texts), batch_size=_BATCH_SIZE)
        return [_without_padding(np.asarray(rows, dtype=np.float32)) for rows in embedded]

    def embed_query(self, text: str) -> Matrix:
        """Return the rows of a query, shape (n_tokens, dimension), float32."""
        rows = next(iter(self._model.query_embed(text)))
        return _without_padding(np.asarray(rows, dtype=np.float32))


def _without_padding(rows: Matrix) -> Matrix:
    """Leave out rows of zeros: masked tokens, which an index refuses or counts as matches."""
    return rows[np.abs(rows).sum(axis=1) > 0]


def _load(model: str, directory: Path | None) -> LateInteractionTextEmbedding:
    from fastembed import LateInteractionTextEmbedding  # noqa: PLC0415 - a second of import

    try:
        if directory is None:
            return LateInteractionTextEmbedding(model, threads=1, local_files_only=True)
        return LateInteractionTextEmbedding(
            _LOADED_AS, specific_model_path=str(directory), threads=1
        )
    except Exception as error:  # fastembed and ONNX Runtime raise many kinds
        raise ModelUnavailableError(advice(model)) from error
