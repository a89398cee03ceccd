"""The engine's parts, made from settings and a profile: the one place that chooses adapters.

Precedence: environment, then profile, then default. ``VOUCH_EMBEDDING_MODEL`` therefore wins over
the model of the profile.
"""

from __future__ import annotations

import asyncio

from retrieval.builds import BuildCatalog
from retrieval.catalog import Catalog, check_stamp
from retrieval.embedding import (
    DenseEmbedder,
    Described,
    DescribedModel,
    FastembedEmbedder,
    describe,
)
from retrieval.embedding_onnx import OnnxEmbedder
from retrieval.engine import Engine
from retrieval.errors import IndexUnavailableError, ModelUnavailableError, RetrievalError
from retrieval.late import LateEmbedder
from retrieval.manifest import Manifest, Stamp
from retrieval.metrics import RetrievalMetrics
from retrieval.models import DEFAULT_MODEL, MODEL_TABLE, resolve_model
from retrieval.opening_models import open_late_embedder, open_reranker_of, open_sparse_encoder
from retrieval.profiles import IngestionProfile, Profile, load_profiles, profile_named
from retrieval.query_embedding import QueryEmbedder
from retrieval.remote import OpenAiEmbedder, RemoteCaller, RemoteEmbedder
from retrieval.rerank import Rerankers
from retrieval.serving import ServingBuilds
from retrieval.settings import RetrievalSettings
from retrieval.sparse import SparseEncoder
from retrieval.tokens import Tokenizer
from retrieval.vectors import VectorCache
from service.circuit import Circuit
from service.circuits import Circuits

EMBEDDINGS, RERANKER = "embeddings", "reranker"
"""Names of circuits."""

# What a reader of a build depends on; chunker and header format concern only who makes it.
READER_FIELDS = (
    "embedding_model",
    "model_digest",
    "dimension",
    "query_prefix",
    "passage_prefix",
    "sparse_model",
    "late_model",
)


def open_profile(settings: RetrievalSettings) -> Profile:
    """Return the profile these settings name.

    Raises:
        SettingsError: The file of profiles is malformed.
        BadRequestError: It has no such profile.
    """
    profiles = load_profiles(settings.profiles_file, settings.environment)
    return profile_named(profiles, settings.profile)


def open_embedder(settings: RetrievalSettings, circuit: Circuit | None = None) -> DenseEmbedder:
    """Reach or load the dense model; blocks for about a second.

    Args:
        settings: Of the process.
        circuit: Keeps calls away from a service that fails; None: each call is tried, which suits
            whoever has nobody waiting.

    Raises:
        ModelUnavailableError: It is neither on this machine nor on the one configured.
    """
    url = (settings.dense_url or settings.embedding_url).rstrip("/")
    if not url:
        return open_local_embedder(settings)
    caller = RemoteCaller(
        url,
        timeout_seconds=settings.embedding_timeout_seconds,
        api_key=settings.dense_api_key.get_secret_value(),
        circuit=circuit,
    )
    return _open_openai(settings, caller) if url.endswith("/v1") else RemoteEmbedder(caller)


def _open_openai(settings: RetrievalSettings, caller: RemoteCaller) -> OpenAiEmbedder:
    name = settings.embedding_model or open_profile(settings).ingestion.embedder.model
    spec = MODEL_TABLE.get(name)
    if spec is None:
        raise ModelUnavailableError(
            f"nothing is known of {name!r}: with an OpenAI-compatible service the model must be "
            f"one of {', '.join(MODEL_TABLE)}"
        )
    packaged = resolve_model(DEFAULT_MODEL, settings.models_dir)
    if packaged.directory is None:
        raise ModelUnavailableError("the packaged tokenizer is missing")
    definition = (packaged.directory / "tokenizer.json").read_text(encoding="utf-8")
    return OpenAiEmbedder(caller, spec, Tokenizer(definition))


def open_local_embedder(settings: RetrievalSettings) -> DenseEmbedder:
    """Load the dense model; blocks for about a second.

    Raises:
        ModelUnavailableError: It is not on this machine.
    """
    wanted = open_profile(settings).ingestion.embedder
    resolved = resolve_model(settings.embedding_model or wanted.model, settings.models_dir)
    if resolved.directory is not None and settings.embedding_device == "cpu":
        return OnnxEmbedder(
            resolved, threads=settings.embedding_threads, cut_dimension=wanted.cut_dimension
        )
    return FastembedEmbedder(
        resolved,
        threads=settings.embedding_threads,
        cut_dimension=wanted.cut_dimension,
        device=settings.embedding_device,
    )


def open_vectors(settings: RetrievalSettings) -> VectorCache:
    """Open the side store of vectors."""
    return VectorCache(settings.vectors_path)


def open_catalog(settings: RetrievalSettings) -> Catalog:
    """Open the builds: on the Qdrant server when one is configured, else on this disk."""
    if settings.qdrant_url:
        # Costs two seconds and 130 MB, so it is loaded only where a server is configured.
        from retrieval.builds_qdrant import connect  # noqa: PLC0415

        return connect(
            settings.qdrant_url,
            settings.qdrant_api_key.get_secret_value(),
            settings.collection,
            timeout_seconds=settings.qdrant_timeout_seconds,
            grpc_port=settings.qdrant_grpc_port if settings.qdrant_grpc else None,
        )
    return BuildCatalog(settings.data_dir, settings.collection)


def make_stamp(
    embedder: Described,
    sparse: SparseEncoder,
    late: LateEmbedder | None = None,
    *,
    header_format: str,
    chunker: str,
    parts: str = "",
) -> Stamp:
    """Return what a build made with all this must be stamped with."""
    spec = embedder.spec
    return Stamp(
        embedding_model=spec.name,
        model_digest=embedder.digest,
        dimension=spec.dimension,
        query_prefix=spec.query_prefix,
        passage_prefix=spec.passage_prefix,
        header_format=header_format,
        chunker=chunker,
        sparse_model=sparse.name,
        late_model=late.name if late else "",
        late_dimension=late.dimension if late else 0,
        parts=parts,
    )


def reader_stamp(settings: RetrievalSettings) -> Stamp:
    """Return what a process with these settings can read; blocks.

    Raises:
        ModelUnavailableError: A model is not on this machine.
    """
    parts = (
        _describe_embedder(settings),
        open_sparse_encoder(settings),
        open_late_embedder(settings),
    )
    return make_stamp(*parts, header_format="", chunker="")


def _describe_embedder(settings: RetrievalSettings) -> Described:
    """Return what is known of the dense model, which is loaded only where its files do not say."""
    if settings.dense_url or settings.embedding_url:
        return open_embedder(settings)
    wanted = open_profile(settings).ingestion.embedder
    resolved = resolve_model(settings.embedding_model or wanted.model, settings.models_dir)
    if resolved.directory is None or not resolved.spec.dimension:
        return open_embedder(settings)
    return DescribedModel(*describe(resolved, cut_dimension=wanted.cut_dimension))


def require_readable(manifest: Manifest, settings: RetrievalSettings) -> None:
    """Do nothing when a process with these settings can serve a build.

    Raises:
        BuildMismatchError: It cannot; says what to do.
        ModelUnavailableError: A model is not on this machine.
    """
    check_stamp(manifest, reader_stamp(settings), fields=READER_FIELDS)


async def open_engine(
    settings: RetrievalSettings,
    metrics: RetrievalMetrics | None = None,
    *,
    circuits: Circuits | None = None,
) -> Engine:
    """Put an engine together from settings, the published build open.

    Args:
        settings: Of this process.
        metrics: Of this process, so that an engine opened again goes on counting; None: its own.
        circuits: Of this process, likewise.

    Raises:
        ModelUnavailableError: A model is not on this machine.
        IndexUnavailableError: Nothing is published, or the index cannot be opened.
        BuildMismatchError: The published build does not match this process's models.
        SettingsError: The file of profiles is malformed.
    """
    profiles = load_profiles(settings.profiles_file, settings.environment)
    active = profile_named(profiles, settings.profile)
    catalog = open_catalog(settings)
    if not await catalog.pointer():  # before a second is spent on the model
        await catalog.close()
        raise IndexUnavailableError("no build is published yet; run `vouch ingest`")
    circuits = circuits or Circuits()
    circuit = circuits.of(EMBEDDINGS) if settings.uses_embedding_service else None
    embedder = await asyncio.to_thread(open_embedder, settings, circuit)
    sparse = await asyncio.to_thread(open_sparse_encoder, settings, circuit)
    late = await asyncio.to_thread(open_late_embedder, settings, circuit)
    expected = make_stamp(embedder, sparse, late, header_format="", chunker="")
    engine = Engine(
        ServingBuilds(
            catalog,
            lambda manifest: check_stamp(manifest, expected, fields=READER_FIELDS),
            keep_seconds=settings.build_keep_seconds,
            check_seconds=settings.build_check_seconds,
        ),
        QueryEmbedder(embedder, cache_size=settings.query_cache_size),
        sparse,
        profiles={
            name: profile.search
            for name, profile in profiles.items()
            if has_same_models(profile.ingestion, active.ingestion)
        },
        default_profile=settings.profile,
        late=late,
        rerankers=Rerankers(
            lambda wanted: open_reranker_of(settings, wanted, circuits.of(RERANKER))
        ),
        metrics=metrics,
    )
    try:
        await engine.refresh()
    except RetrievalError:
        await engine.close()
        raise
    return engine


def has_same_models(one: IngestionProfile, other: IngestionProfile) -> bool:
    """Return whether a build of one profile can be searched with the other."""
    return (
        one.embedder == other.embedder
        and one.sparse == other.sparse
        and (one.late_interaction is None or one.late_interaction == other.late_interaction)
        and (one.parts is None or one.parts == other.parts)
    )
