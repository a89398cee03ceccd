"""The client for asynchronous code; ``Vouch`` with the same methods to be awaited."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from types import TracebackType
from typing import Self

import httpx

from vouch_client.events import Event, EventReader
from vouch_client.replies import Reply
from vouch_client.wire import (
    DEFAULT_TIMEOUT_SECONDS,
    DEFAULT_URL,
    EVENT_STREAM,
    body_of,
    check,
    check_stream,
    headers,
    path_of,
    reply_in,
    timeouts,
    unreachable,
)


class AsyncVouch:
    """Asks one service. Use it in an ``async with`` block, or close it.

    Args:
        url: Address of the service.
        key: API key; empty where none is needed.
        timeout_seconds: Longest wait for an answer, or between two events of a stream.
        transport: Instead of the network, for tests.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        key: str = "",
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=url, headers=headers(key), timeout=timeouts(timeout_seconds),
            transport=transport,
        )  # fmt: skip

    async def __aenter__(self) -> Self:
        """Return the client."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every connection."""
        await self.close()

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def ask(
        self,
        question: str,
        *,
        top_k: int = 4,
        source: str = "",
        after: Reply | str | None = None,
        search_question: str = "",
    ) -> Reply:
        """Ask, and wait for what it comes to.

        Args:
            question: At most 2,000 characters.
            top_k: Passages wanted, 1 to 50.
            source: Only this source; empty: every source.
            after: What it follows up on: a reply, or the name of a conversation.
            search_question: Searched for instead of what the question comes to; empty for that.

        Raises:
            VouchClientError: It did not come to anything.
        """
        body = body_of(
            question, top_k=top_k, source=source, after=after, search_question=search_question
        )
        try:
            return reply_in(await self._http.post("/ask", json=body))
        except httpx.HTTPError as error:
            raise unreachable(error) from error

    async def stream(
        self,
        question: str,
        *,
        top_k: int = 4,
        source: str = "",
        after: Reply | str | None = None,
        search_question: str = "",
    ) -> AsyncGenerator[Event]:
        """Ask, and yield every stage as it is reached; the last one is ``Done``.

        Closing the generator gives the question up. The arguments are those of ``ask``.

        Raises:
            VouchClientError: It did not come to anything.
        """
        body = body_of(
            question, top_k=top_k, source=source, after=after, search_question=search_question
        )
        reader = EventReader()
        try:
            async with self._http.stream(
                "POST", "/ask", json=body, headers={"accept": EVENT_STREAM}
            ) as response:
                if not response.is_success:
                    await response.aread()
                check(response)
                check_stream(response.headers)
                async for line in response.aiter_lines():
                    event = reader.feed(line)
                    if event is not None:
                        yield event
            reader.end()
        except httpx.HTTPError as error:
            raise unreachable(error) from error

    async def find(self, ask_id: str) -> Reply:
        """Return a recorded reply exactly as it was given.

        Raises:
            NotFoundError: There is no such record.
            VouchClientError: It cannot be read.
        """
        try:
            return reply_in(await self._http.get(path_of(ask_id)))
        except httpx.HTTPError as error:
            raise unreachable(error) from error
