"""Passing calls of other agents on to the tool server, with an allow-list of headers.

Nothing of a request goes on but what is named here: its body, the headers that say how to read it,
who is calling and from where. The caller's own credential never does: a token of one scope, signed
for this call, takes its place.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

import httpx

from knowledge.errors import KnowledgeTimeoutError, KnowledgeUnavailableError
from service.logs import REQUEST_ID_HEADER, request_id
from service.tokens import Claims, TokenSigner

PLATFORM_HEADER = "x-vouch-agent-platform"
TRACE_HEADER = "x-vouch-trace-id"

_UNKNOWN_PLATFORM = "unknown"
_PASSED_ON = (TRACE_HEADER, "mcp-protocol-version", "mcp-method", "mcp-name")
_PASSED_BACK = ("retry-after", REQUEST_ID_HEADER.lower())
_EVENT_STREAM = "text/event-stream"
_JSON = "application/json"
_NOT_OURS = frozenset({401, 403, 421})
_TOKEN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Forwarded:
    """What came back: always one JSON body."""

    status: int
    body: bytes
    headers: Mapping[str, str]


class Forwarder:
    """Sends requests on; an asynchronous context manager.

    Args:
        url: Address of the tool server, with or without ``/mcp``.
        signer: Holds the key shared with the tool server.
        timeout_seconds: Longest time one call may take.
        transport: For tests; None is the network.
        clock: Returns Unix time in seconds.
    """

    def __init__(
        self,
        url: str,
        signer: TokenSigner,
        *,
        timeout_seconds: float,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._root = url.rstrip("/").removesuffix("/mcp")
        self._signer = signer
        self._clock = clock
        self._client = httpx.AsyncClient(
            timeout=timeout_seconds, transport=transport, trust_env=False
        )

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def post(
        self, path: str, body: bytes, given: Mapping[str, str], claims: Claims
    ) -> Forwarded:
        """Send one request on.

        Args:
            path: At the tool server.
            body: JSON, passed on as it is.
            given: The headers of the request; only those of the allow-list are read.
            claims: What the token of this call grants; it expires within a minute.

        Raises:
            KnowledgeUnavailableError: The tool server is away, or does not know this API.
            KnowledgeTimeoutError: The call went over its deadline.
        """
        headers = self._headers(given, claims)
        try:
            reply = await self._client.post(self._root + path, content=body, headers=headers)
        except httpx.TimeoutException as error:
            raise KnowledgeTimeoutError("the tool server went over its deadline") from error
        except httpx.HTTPError as error:
            raise KnowledgeUnavailableError("the tool server is away") from error
        if reply.status_code in _NOT_OURS:
            raise KnowledgeUnavailableError("the tool server does not accept this API's token")
        passed_back = {name: reply.headers[name] for name in _PASSED_BACK if name in reply.headers}
        return Forwarded(reply.status_code, _one_body(reply), passed_back)

    def _headers(self, given: Mapping[str, str], claims: Claims) -> dict[str, str]:
        signed = replace(claims, expires_at=self._clock() + _TOKEN_SECONDS)
        headers = {
            "authorization": f"Bearer {self._signer.sign(signed)}",
            "content-type": _JSON,
            "accept": f"{_JSON}, {_EVENT_STREAM}",
            PLATFORM_HEADER: given.get(PLATFORM_HEADER) or _UNKNOWN_PLATFORM,
        }
        headers |= {name: given[name] for name in _PASSED_ON if name in given}
        if current := request_id.get():
            headers[REQUEST_ID_HEADER] = current
        return headers


def _one_body(reply: httpx.Response) -> bytes:
    """Return the JSON of a reply; of a stream of events the one that answers the call."""
    if not reply.headers.get("content-type", "").startswith(_EVENT_STREAM):
        return reply.content
    found = b""
    for line in reply.text.splitlines():
        if line.startswith("data:"):
            message = line.removeprefix("data:").strip()
            if _answers(message):
                found = message.encode()
    if not found:
        raise KnowledgeUnavailableError("the tool server ended its answer early")
    return found


def _answers(message: str) -> bool:
    try:
        content: object = json.loads(message)
    except ValueError:
        return False
    return isinstance(content, dict) and ("result" in content or "error" in content)
