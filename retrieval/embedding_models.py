"""The models behind the embedding service, each loaded when it is first asked for."""

from __future__ import annotations

from threading import Lock

from retrieval.chunk import SparseVector
from retrieval.embedding import DenseEmbedder
from retrieval.embedding_settings import EmbeddingServiceSettings
from retrieval.embedding_wire import (
    EmbedRequest,
    LateModelReply,
    ModelReply,
    RerankRequest,
    SparseModelReply,
)
from retrieval.errors import BadRequestError, ModelUnavailableError
from retrieval.late import LateEmbedder
from retrieval.opening import open_local_embedder, open_profile
from retrieval.opening_models import open_local_late_embedder, open_local_sparse_encoder
from retrieval.rerank import Reranker, open_reranker
from retrieval.sparse import SparseEncoder


class ServedModels:
    """Loads and asks the models of one profile. Every method blocks but ``rerank``.

    Args:
        settings: Name the profile.
        dense: The dense model; None loads the profile's at its first use.
    """

    def __init__(
        self, settings: EmbeddingServiceSettings, dense: DenseEmbedder | None = None
    ) -> None:
        self._settings = settings
        self._loading = Lock()
        self._dense = dense
        self._sparse: SparseEncoder | None = None
        self._late: LateEmbedder | None = None
        self._reranker: Reranker | None = None

    @property
    def loaded(self) -> list[str]:
        """Names of the models in memory."""
        names = [self._dense.spec.name] if self._dense else []
        names += [model.name for model in (self._sparse, self._late) if model]
        return names

    def dense(self, body: EmbedRequest) -> tuple[str, list[list[float]]]:
        """Return the model's name and one vector a text."""
        model = self._dense_model()
        _check_name(body.model, model.spec.name)
        if body.kind == "query":
            vectors = [model.embed_query(text) for text in body.texts]
        else:
            vectors = model.embed_passages(body.texts)
        return model.spec.name, [vector.tolist() for vector in vectors]

    def describe(self) -> ModelReply:
        """Return what a caller must know of the dense model."""
        model = self._dense_model()
        spec = model.spec
        return ModelReply(
            name=spec.name,
            dimension=spec.dimension,
            input_limit_tokens=spec.input_limit_tokens,
            query_prefix=spec.query_prefix,
            passage_prefix=spec.passage_prefix,
            default_threshold_cosine=spec.default_threshold_cosine,
            digest=model.digest,
            tokenizer=model.tokenizer.definition,
        )

    def sparse(self, body: EmbedRequest) -> tuple[str, list[SparseVector]]:
        """Return the encoder's name and one sparse vector a text."""
        encoder = self._sparse_model()
        _check_name(body.model, encoder.name)
        embed = encoder.embed_query if body.kind == "query" else encoder.embed_document
        return encoder.name, [embed(text) for text in body.texts]

    def late(self, body: EmbedRequest) -> tuple[str, int, list[list[list[float]]]]:
        """Return the model's name, the length of its rows and one matrix a text."""
        model = self._late_model()
        _check_name(body.model, model.name)
        if body.kind == "query":
            matrices = [model.embed_query(text) for text in body.texts]
        else:
            matrices = model.embed_passages(body.texts)
        return model.name, model.dimension, [matrix.tolist() for matrix in matrices]

    async def rerank(self, body: RerankRequest) -> list[float]:
        """Return one number a passage."""
        wanted = open_profile(self._settings).search.reranker
        if wanted is None:
            raise ModelUnavailableError("the profile has no reranker")
        self._reranker = self._reranker or open_reranker(wanted)
        return await self._reranker.rerank(body.query, body.texts)

    def describe_sparse(self) -> SparseModelReply:
        """Return what a caller must know of the sparse model."""
        model = self._sparse_model()
        return SparseModelReply(
            name=model.name, saturation=model.saturation, uses_idf=model.uses_idf
        )

    def describe_late(self) -> LateModelReply:
        """Return what a caller must know of the late-interaction model."""
        model = self._late_model()
        return LateModelReply(name=model.name, dimension=model.dimension)

    def _sparse_model(self) -> SparseEncoder:
        with self._loading:
            self._sparse = self._sparse or open_local_sparse_encoder(self._settings)
            return self._sparse

    def _late_model(self) -> LateEmbedder:
        with self._loading:
            self._late = self._late or open_local_late_embedder(self._settings)
            if self._late is None:
                raise ModelUnavailableError("the profile has no late-interaction model")
            return self._late

    def _dense_model(self) -> DenseEmbedder:
        with self._loading:
            self._dense = self._dense or open_local_embedder(self._settings)
            return self._dense


def _check_name(wanted: str, served: str) -> None:
    if wanted and wanted != served:
        raise BadRequestError(f"this service has {served!r}, not {wanted!r}")
