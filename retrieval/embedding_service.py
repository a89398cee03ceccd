"""``vouch embeddings``: one process with the models, for hosts that have none.

A model is loaded when it is first asked for. Calls beyond those that can be worked on wait, and
beyond those that may wait they are refused at once, so that callers slow down instead of piling up.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from prometheus_client import Gauge, Histogram
from starlette.middleware.base import RequestResponseEndpoint

from retrieval.embedding_models import ServedModels
from retrieval.embedding_settings import EmbeddingServiceSettings
from retrieval.embedding_wire import (
    DenseReply,
    EmbedRequest,
    Judged,
    LateModelReply,
    LateReply,
    ModelReply,
    RerankReply,
    RerankRequest,
    ServiceHealth,
    SparseModelReply,
    SparseReply,
    SparseValues,
)
from retrieval.errors import (
    BadRequestError,
    InputTooLongError,
    ModelUnavailableError,
    RetrievalError,
    ServiceBusyError,
)
from service.errors import VouchError
from service.health import installed_version
from service.lifeline import follow_lifeline
from service.logs import configure_logging
from service.metrics import LATENCY_BUCKETS_SECONDS, open_registry, render_metrics

_RETRY_AFTER_SECONDS = 1
_STATUS: dict[type[RetrievalError], int] = {
    BadRequestError: 422,
    InputTooLongError: 422,
    ModelUnavailableError: 503,
    ServiceBusyError: 503,
}
_Result = TypeVar("_Result")


class Gate:
    """Lets few calls work, some wait, and refuses the rest.

    Args:
        running: Calls worked on at once.
        waiting: Calls that may wait.
    """

    def __init__(self, *, running: int, waiting: int) -> None:
        self._places = asyncio.Semaphore(running)
        self._most = running + waiting
        self._most_running = running
        self._inside = 0

    @property
    def running(self) -> int:
        """Calls being worked on."""
        return min(self._inside, self._most_running)

    @property
    def waiting(self) -> int:
        """Calls waiting for a place."""
        return max(0, self._inside - self._most_running)

    @asynccontextmanager
    async def enter(self) -> AsyncGenerator[None]:
        """Wait for a place.

        Raises:
            ServiceBusyError: Nobody else may wait.
        """
        if self._inside >= self._most:
            raise ServiceBusyError("too many calls at once")
        self._inside += 1
        try:
            async with self._places:
                yield
        finally:
            self._inside -= 1


def create_app(settings: EmbeddingServiceSettings, models: ServedModels | None = None) -> FastAPI:
    """Return the service.

    Args:
        settings: Of the process.
        models: What is served; None serves the models of the settings' profile.
    """
    served = models or ServedModels(settings)
    gate = Gate(running=settings.embeddings_running, waiting=settings.embeddings_waiting)
    app = FastAPI(title="Vouch embeddings", version=installed_version())
    app.add_exception_handler(RetrievalError, _refuse)
    _add_metrics(app, gate)
    _add_vectors(app, served, gate, settings.embeddings_most_characters)
    _add_others(app, served, gate)
    return app


def _add_vectors(app: FastAPI, served: ServedModels, gate: Gate, most_characters: int) -> None:
    async def run(work: Callable[[], _Result], texts: tuple[str, ...]) -> _Result:
        if sum(map(len, texts)) > most_characters:
            raise BadRequestError(f"a call may have {most_characters} characters at most")
        async with gate.enter():
            return await asyncio.to_thread(work)

    @app.post("/embed")
    @app.post("/embed/dense")
    async def embed_dense(body: EmbedRequest) -> DenseReply:
        """Return one unit vector a text."""
        name, vectors = await run(lambda: served.dense(body), body.texts)
        return DenseReply(model=name, dimension=len(vectors[0]), vectors=vectors)

    @app.post("/embed/sparse")
    async def embed_sparse(body: EmbedRequest) -> SparseReply:
        """Return one sparse vector a text."""
        name, found = await run(lambda: served.sparse(body), body.texts)
        return SparseReply(
            model=name,
            vectors=[SparseValues(indices=one.indices, values=one.values) for one in found],
        )

    @app.post("/embed/colbert")
    async def embed_late(body: EmbedRequest) -> LateReply:
        """Return one matrix a text, a row for each token."""
        name, dimension, matrices = await run(lambda: served.late(body), body.texts)
        return LateReply(model=name, dimension=dimension, vectors=matrices)


def _add_others(app: FastAPI, served: ServedModels, gate: Gate) -> None:
    @app.post("/rerank")
    async def rerank(body: RerankRequest) -> RerankReply:
        """Return one number a passage."""
        async with gate.enter():
            logits = await served.rerank(body)
        judged = [Judged(index=n, relevance_score=logit) for n, logit in enumerate(logits)]
        return RerankReply(logits=logits, results=judged)

    @app.get("/model")
    async def describe_model() -> ModelReply:
        """Say what a caller must know of the dense model."""
        async with gate.enter():
            return await asyncio.to_thread(served.describe)

    @app.get("/model/sparse")
    async def describe_sparse() -> SparseModelReply:
        """Say what a caller must know of the learned sparse model."""
        async with gate.enter():
            return await asyncio.to_thread(served.describe_sparse)

    @app.get("/model/late")
    async def describe_late() -> LateModelReply:
        """Say what a caller must know of the late-interaction model."""
        async with gate.enter():
            return await asyncio.to_thread(served.describe_late)

    @app.get("/health")
    @app.get("/healthz")
    async def health() -> ServiceHealth:
        """Say which models are in memory; asks none of them."""
        return ServiceHealth(loaded=served.loaded, running=gate.running, waiting=gate.waiting)


def _add_metrics(app: FastAPI, gate: Gate) -> None:
    registry = open_registry("embeddings", version=installed_version())
    seconds = Histogram(
        "vouch_embeddings_seconds",
        "Time of a call to the embedding service.",
        ("path", "status"),
        buckets=LATENCY_BUCKETS_SECONDS,
        registry=registry,
    )
    running = Gauge("vouch_embeddings_running", "Calls being worked on.", registry=registry)
    running.set_function(lambda: gate.running)
    waiting = Gauge("vouch_embeddings_waiting", "Calls waiting for a place.", registry=registry)
    waiting.set_function(lambda: gate.waiting)

    @app.middleware("http")
    async def measure(request: Request, call_next: RequestResponseEndpoint) -> Response:
        started = time.perf_counter()
        response = await call_next(request)
        known = request.scope.get("route")
        path = known.path if isinstance(known, APIRoute) else "unknown"
        spent = time.perf_counter() - started
        seconds.labels(path, str(response.status_code)).observe(spent)
        return response

    @app.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        """Return the metrics of this process."""
        body, media_type = render_metrics(registry)
        return Response(body, media_type=media_type)


async def _refuse(_: object, error: Exception) -> JSONResponse:
    status = next((s for kind, s in _STATUS.items() if isinstance(error, kind)), 500)
    code = error.code if isinstance(error, VouchError) else VouchError.code
    headers = (
        {"Retry-After": str(_RETRY_AFTER_SECONDS)} if isinstance(error, ServiceBusyError) else {}
    )
    body = {"type": "about:blank", "title": code, "status": status, "code": code}
    return JSONResponse(
        {**body, "detail": str(error)}, status, headers, media_type="application/problem+json"
    )


def main() -> int:
    """Serve until stopped."""
    settings = EmbeddingServiceSettings()
    configure_logging(settings, process="embeddings")
    follow_lifeline(enabled=settings.lifeline)
    uvicorn.run(
        create_app(settings),
        host=settings.embeddings_host,
        port=settings.embeddings_port,
        log_config=None,
        access_log=False,
        server_header=False,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
