"""A second look at the fused head by a cross-encoder, here or on a server. Optional.

It reorders and never measures evidence: the guard reads what was computed before it. When it fails
the fused order stands, the response says so, and a metric counts it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeAlias

import httpx
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from retrieval.errors import RerankError
from retrieval.profiles import RerankerProfile
from service.circuit import Circuit, CircuitOpenError

if TYPE_CHECKING:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

_BATCH_PAIRS = 4
_registering = Lock()
RerankerOpener: TypeAlias = "Callable[[RerankerProfile], Reranker]"


class Reranker(Protocol):
    """Judges how well passages answer a query."""

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return one unbounded number per passage, larger is better.

        Raises:
            RerankError: It failed, was late, or answered nonsense.
        """
        ...

    async def close(self) -> None:
        """Release connections and models."""
        ...


class CrossEncoderReranker:
    """A cross-encoder through fastembed, loaded at its first use.

    Args:
        model: A directory with ``model.onnx``, ``tokenizer.json`` and ``tokenizer_config.json``, or
            a name that fastembed has in its cache.
        timeout_seconds: Deadline of one call, loading included.
    """

    def __init__(self, model: str, *, timeout_seconds: float) -> None:
        self._name = model
        self._timeout_seconds = timeout_seconds
        self._model: TextCrossEncoder | None = None
        self._loading = Lock()

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return the cross-encoder's logit of each passage."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                logits = await asyncio.to_thread(self._rerank, query, list(passages))
        except TimeoutError as error:
            raise RerankError(f"{self._name} took over {self._timeout_seconds:g} s") from error
        return checked_logits(logits, len(passages))

    async def close(self) -> None:
        """Nothing is held beyond memory."""

    def _rerank(self, query: str, passages: list[str]) -> list[float]:
        try:
            with self._loading:
                if self._model is None:
                    self._model = _load(self._name)
            return [float(x) for x in self._model.rerank(query, passages, batch_size=_BATCH_PAIRS)]
        except Exception as error:  # fastembed and ONNX Runtime raise many kinds
            raise RerankError(f"{self._name} cannot rerank: {error}") from error


class _Ranked(BaseModel):
    """One judged passage, as rerank servers answer it."""

    model_config = ConfigDict(extra="ignore")

    index: int
    score: float | None = None
    relevance_score: float | None = None


class _Results(BaseModel):
    """Judged passages inside an object."""

    model_config = ConfigDict(extra="ignore")

    results: list[_Ranked]


_RANKED = TypeAdapter(list[_Ranked])


class RemoteReranker:
    """A server with a ``/rerank`` route.

    Both common forms are understood: a list of ``{index, score}``, and an object whose ``results``
    are ``{index, relevance_score}``. The request names the passages as both of them do.

    Args:
        url: The whole address, ending in ``/rerank``.
        timeout_seconds: Deadline of one call.
        transport: For tests; None is the network.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_seconds: float,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._url = url
        self._timeout_seconds = timeout_seconds
        self._client = httpx.AsyncClient(timeout=timeout_seconds, transport=transport)

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return the server's number for each passage."""
        body = {
            "query": query,
            "texts": list(passages),
            "documents": list(passages),
            "raw_scores": True,
        }
        try:
            async with asyncio.timeout(self._timeout_seconds):
                response = await self._client.post(self._url, json=body)
            response.raise_for_status()
            return checked_logits(_logits_of(response.json(), len(passages)), len(passages))
        except (httpx.HTTPError, TimeoutError, ValueError) as error:
            reason = str(error) or type(error).__name__
            raise RerankError(f"{self._url} cannot rerank: {reason}") from error

    async def close(self) -> None:
        """Close connections."""
        await self._client.aclose()


class RestingReranker:
    """A reranker that is left alone for a while when it keeps failing.

    Args:
        reranker: The one that works.
        circuit: Keeps calls away from it.
    """

    def __init__(self, reranker: Reranker, circuit: Circuit) -> None:
        self._reranker = reranker
        self._circuit = circuit

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return one number per passage; see ``Reranker``."""
        try:
            with self._circuit.guard(RerankError):
                return await self._reranker.rerank(query, passages)
        except CircuitOpenError as error:
            raise RerankError(str(error)) from error

    async def close(self) -> None:
        """Release what is held."""
        await self._reranker.close()


class Rerankers:
    """The rerankers of this process, one for each model that a profile names.

    Args:
        opened: Makes one; replaced in tests.
    """

    def __init__(self, opened: RerankerOpener | None = None) -> None:
        self._opened = opened or open_reranker
        self._rerankers: dict[RerankerProfile, Reranker] = {}

    def of(self, profile: RerankerProfile) -> Reranker:
        """Return the one of a profile; its model is loaded when it is first used."""
        if profile not in self._rerankers:
            self._rerankers[profile] = self._opened(profile)
        return self._rerankers[profile]

    async def close(self) -> None:
        """Release all of them."""
        for reranker in self._rerankers.values():
            await reranker.close()


def open_reranker(profile: RerankerProfile, circuit: Circuit | None = None) -> Reranker:
    """Return the reranker that a profile names: an address, a directory or a fastembed name.

    Args:
        profile: Names it.
        circuit: Keeps calls away while it fails; None: each call is tried.
    """
    is_remote = profile.model.startswith(("http://", "https://"))
    kind = RemoteReranker if is_remote else CrossEncoderReranker
    reranker = kind(profile.model, timeout_seconds=profile.timeout_seconds)
    return RestingReranker(reranker, circuit) if circuit else reranker


def checked_logits(logits: Sequence[float], expected: int) -> list[float]:
    """Return the numbers if there is a finite one for each passage.

    Raises:
        RerankError: There is not.
    """
    if len(logits) != expected or not all(map(math.isfinite, logits)):
        raise RerankError(f"{expected} passages were given and {len(logits)} numbers came back")
    return list(logits)


def _logits_of(content: object, expected: int) -> list[float]:
    try:
        if isinstance(content, dict):
            ranked = _Results.model_validate(content).results
        else:
            ranked = _RANKED.validate_python(content)
    except ValidationError as error:
        raise ValueError("the answer is no list of judged passages") from error
    numbers = {r.index: r.score if r.score is not None else r.relevance_score for r in ranked}
    found = [numbers.get(index) for index in range(expected)]
    return [number for number in found if number is not None]


def _load(name: str) -> TextCrossEncoder:
    from fastembed.common.model_description import ModelSource  # noqa: PLC0415 - a second of import
    from fastembed.rerank.cross_encoder import TextCrossEncoder  # noqa: PLC0415

    directory = Path(name).expanduser()
    if not directory.is_dir():
        return TextCrossEncoder(name, threads=1, local_files_only=True)
    registered = f"vouch/{directory.resolve()}"
    with _registering:
        known = {str(model["model"]) for model in TextCrossEncoder.list_supported_models()}
        if registered not in known:
            TextCrossEncoder.add_custom_model(
                model=registered, sources=ModelSource(hf=registered), model_file="model.onnx"
            )
    return TextCrossEncoder(registered, specific_model_path=str(directory), threads=1)
