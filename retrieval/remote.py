"""A dense embedder on another machine: our embedding service, or any OpenAI-compatible one.

Calls have a deadline and are tried again with growing, random pauses; what comes back is checked,
because a vector of another length or without direction would spoil an index silently.
"""

from __future__ import annotations

import random
import time
import weakref
from collections.abc import Callable, Sequence
from typing import cast

import httpx
import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from retrieval.chunk import DenseVector
from retrieval.embedding_wire import MOST_TEXTS, DenseReply, ModelReply
from retrieval.errors import InputTooLongError, ModelUnavailableError, VectorError
from retrieval.models import ModelSpec
from retrieval.tokens import Tokenizer
from service.circuit import Circuit, CircuitOpenError

_TRIES = 4
_FIRST_PAUSE_SECONDS = 0.25
_AGAIN = frozenset({408, 429, 500, 502, 503, 504})
_BAD_REQUEST = 422


class _OpenAiVector(BaseModel):
    model_config = ConfigDict(extra="ignore")

    index: int
    embedding: list[float]


class _OpenAiReply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    data: list[_OpenAiVector]


class RemoteCaller:
    """Posts and gets JSON with a deadline and retries.

    Args:
        url: Base address.
        timeout_seconds: Deadline of one call, all tries together.
        api_key: Sent as bearer; empty for none.
        transport: For tests; None is the network.
        pause: For tests; waits between tries.
        circuit: Keeps calls away while the service fails; None: each call is tried.
        task: What the service is asked to do, for its errors.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_seconds: float,
        api_key: str = "",
        transport: httpx.BaseTransport | None = None,
        pause: Callable[[float], None] = time.sleep,
        circuit: Circuit | None = None,
        task: str = "embed",
    ) -> None:
        headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self.url = url.rstrip("/")
        self._timeout_seconds = timeout_seconds
        self._pause = pause
        self._circuit = circuit
        self._task = task
        self._client = httpx.Client(
            timeout=timeout_seconds, transport=transport, headers=headers, trust_env=False
        )
        # Embedders are handed about and have no end of their own; their connections do.
        weakref.finalize(self, self._client.close)

    def call(self, path: str, body: dict[str, object] | None = None) -> object:
        """Return the decoded answer; with a body it is posted.

        Raises:
            InputTooLongError: The service refuses the texts.
            ModelUnavailableError: It cannot be reached, is late or answers nonsense.
        """
        if self._circuit is None:
            return self._call(path, body)
        try:
            with self._circuit.guard(ModelUnavailableError):
                return self._call(path, body)
        except CircuitOpenError as error:
            raise ModelUnavailableError(f"{self.url} cannot {self._task}: {error}") from error

    def _call(self, path: str, body: dict[str, object] | None) -> object:
        deadline = time.monotonic() + self._timeout_seconds
        problem = ""
        for attempt in range(_TRIES):
            left = deadline - time.monotonic()
            if left <= 0:
                break
            try:
                response = self._client.request(
                    "POST" if body else "GET", self.url + path, json=body, timeout=left
                )
                if response.status_code == _BAD_REQUEST:
                    raise InputTooLongError(f"{self.url} refuses the texts: {response.text[:200]}")
                if response.status_code not in _AGAIN:
                    response.raise_for_status()
                    return cast("object", response.json())
                problem = f"status {response.status_code}"
            except httpx.TransportError as error:
                problem = str(error) or type(error).__name__
            except (httpx.HTTPStatusError, ValueError) as error:
                raise ModelUnavailableError(f"{self.url} cannot {self._task}: {error}") from error
            pause = _FIRST_PAUSE_SECONDS * 2**attempt * random.uniform(0.5, 1.5)  # noqa: S311
            self._pause(max(0.0, min(pause, deadline - time.monotonic())))
        raise ModelUnavailableError(
            f"{self.url} cannot {self._task}: {problem or 'it is too slow'}"
        )

    def close(self) -> None:
        """Close connections."""
        self._client.close()


class RemoteEmbedder:
    """The dense model of our embedding service.

    Args:
        caller: Reaches it.

    Raises:
        ModelUnavailableError: It cannot be reached.
    """

    def __init__(self, caller: RemoteCaller) -> None:
        self._caller = caller
        try:
            described = ModelReply.model_validate(caller.call("/model"))
        except ValidationError as error:
            raise ModelUnavailableError(f"{caller.url} is no embedding service") from error
        self.spec = ModelSpec(
            described.name,
            described.dimension,
            described.input_limit_tokens,
            described.query_prefix,
            described.passage_prefix,
            described.default_threshold_cosine,
        )
        self.digest = described.digest
        self.tokenizer = Tokenizer(described.tokenizer)

    def embed_passages(self, texts: Sequence[str]) -> list[DenseVector]:
        """Embed passages; the service adds the prefix."""
        found: list[DenseVector] = []
        for at in range(0, len(texts), MOST_TEXTS):
            found += self._embed(texts[at : at + MOST_TEXTS], "passage")
        return found

    def embed_query(self, text: str) -> DenseVector:
        """Embed one query; the service adds the prefix."""
        return self._embed([text], "query")[0]

    def _embed(self, texts: Sequence[str], kind: str) -> list[DenseVector]:
        body: dict[str, object] = {"texts": list(texts), "kind": kind, "model": self.spec.name}
        try:
            reply = DenseReply.model_validate(self._caller.call("/embed/dense", body))
        except ValidationError as error:
            raise ModelUnavailableError(f"{self._caller.url} answers nonsense") from error
        return checked_vectors(reply.vectors, len(texts), self.spec.dimension)


class OpenAiEmbedder:
    """A dense model behind an OpenAI-compatible ``/v1/embeddings``.

    Such a service tells neither tokenizer nor limit, so both are given.

    Args:
        caller: Reaches it; its address ends before ``/embeddings``.
        spec: What the model expects and gives.
        tokenizer: Counts tokens for it, at least as many as the model's own.
    """

    def __init__(self, caller: RemoteCaller, spec: ModelSpec, tokenizer: Tokenizer) -> None:
        self._caller = caller
        self.spec = spec
        self.tokenizer = tokenizer
        self.digest = f"remote:{caller.url}:{spec.name}:{spec.dimension}"

    def embed_passages(self, texts: Sequence[str]) -> list[DenseVector]:
        """Embed passages, the passage prefix added here."""
        found: list[DenseVector] = []
        for at in range(0, len(texts), MOST_TEXTS):
            part = [self.spec.passage_prefix + text for text in texts[at : at + MOST_TEXTS]]
            found += self._embed(part)
        return found

    def embed_query(self, text: str) -> DenseVector:
        """Embed one query, the query prefix added here."""
        return self._embed([self.spec.query_prefix + text])[0]

    def _embed(self, texts: list[str]) -> list[DenseVector]:
        body: dict[str, object] = {"input": texts, "model": self.spec.name}
        try:
            reply = _OpenAiReply.model_validate(self._caller.call("/embeddings", body))
        except ValidationError as error:
            raise ModelUnavailableError(f"{self._caller.url} answers nonsense") from error
        ordered = sorted(reply.data, key=lambda one: one.index)
        vectors = [one.embedding for one in ordered]
        return checked_vectors(vectors, len(texts), self.spec.dimension)


def checked_vectors(
    rows: Sequence[Sequence[float]], expected: int, dimension: int
) -> list[DenseVector]:
    """Return unit vectors, if there is a usable one for each text.

    Raises:
        VectorError: There are fewer or more, or one has another length or no direction.
    """
    if len(rows) != expected:
        raise VectorError(f"{expected} texts were sent and {len(rows)} vectors came back")
    found: list[DenseVector] = []
    for row in rows:
        vector = np.asarray(row, dtype=np.float32)
        if vector.shape != (dimension,):
            raise VectorError(f"a vector has {vector.size} numbers, the model {dimension}")
        length = float(np.linalg.norm(vector))
        if not np.isfinite(length) or length == 0:
            raise VectorError("a vector has no direction")
        found.append((vector / np.float32(length)).astype(np.float32))
    return found
