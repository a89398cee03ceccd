"""One address of the tool server: the only file that sends a tool call over HTTP.

A call that fails fails alone: there is no session, no reader task and no shared stream, so a tool
server that dies takes its calls in flight with it and nothing else, and the next call finds the
restarted one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import httpx
from pydantic import JsonValue

from knowledge.client_calls import LISTING, ToolType
from knowledge.client_failures import error_of_failure, error_of_rpc, error_of_status
from knowledge.client_lanes import Lanes
from knowledge.client_wire import (
    CallOutcome,
    ReplyMeta,
    ResultT,
    ToolDescription,
    call_request,
    list_request,
    parse_reply,
)
from knowledge.errors import (
    KnowledgeTimeoutError,
    KnowledgeUnavailableError,
    ToolContractError,
)
from knowledge.pin import Pin, check_pin
from service.logs import REQUEST_ID_HEADER, request_id, traceparent

INSTANCE_HEADER = "x-vouch-instance"

_MOST_INSTANCES = 64
# The whole call has one deadline; only a connection that does not come about is given up earlier.
_ONLY_CONNECTING_IS_TIMED = {"timeout": {"connect": 1.0, "read": None, "write": None, "pool": None}}


class ToolChannel:
    """Calls tools at one address, each call with its own bearer and deadline.

    Args:
        url: Endpoint of the tool set.
        lanes: Shared connections; stay open when the channel is dropped.
        timeout_seconds: Longest time one call may take, connecting included.
        pin: The tool list the server must offer; None for a tool set that is not pinned.
    """

    def __init__(
        self,
        url: str,
        *,
        lanes: Lanes,
        timeout_seconds: float,
        pin: Pin | None,
    ) -> None:
        self._url = httpx.URL(url)
        self._lanes = lanes
        self._timeout_seconds = timeout_seconds
        self._pin = pin
        self._checked: dict[str, None] = {}
        self._checking = asyncio.Lock()

    async def call(
        self, tool: ToolType[ResultT], arguments: Mapping[str, JsonValue], *, token: str
    ) -> ResultT:
        """Call a tool and return its checked result.

        Raises:
            KnowledgeError: As for ``exchange``.
        """
        return (await self.exchange(tool, arguments, token=token))[0]

    async def exchange(
        self, tool: ToolType[ResultT], arguments: Mapping[str, JsonValue], *, token: str
    ) -> tuple[ResultT, ReplyMeta]:
        """Call a tool; return its checked result and what the server sent beside it.

        Raises:
            KnowledgeUnavailableError: The server is away, busy, or cannot serve.
            KnowledgeTimeoutError: The call went over its deadline.
            ToolContractError: The tools or the answer are not those agreed.
            ToolRefusedError: The tool refuses the call; the caller can mend it.
            BuildGoneError: The build the token is pinned to is no longer loaded.
        """
        try:
            async with asyncio.timeout(self._timeout_seconds):
                response = await self._post(
                    *call_request(tool.name, arguments, traceparent=traceparent.get()), token=token
                )
                await self._check(response, token)
        except TimeoutError as error:
            raise KnowledgeTimeoutError(f"{tool.name} went over its deadline") from error
        reply = parse_reply(
            tool.adapter, response.content, content_type=response.headers.get("content-type", "")
        )
        if reply.error is not None:
            raise error_of_rpc(reply.error.code, reply.error.message)
        return _result_of(tool, reply.result)

    async def list_tools(self, *, token: str) -> tuple[ToolDescription, ...]:
        """Return what the server says of its tools."""
        response = await self._post(*list_request(), token=token)
        reply = parse_reply(
            LISTING, response.content, content_type=response.headers.get("content-type", "")
        )
        if reply.result is None or reply.result.next_cursor:
            raise ToolContractError("the tool server does not list its tools on one page")
        return reply.result.tools

    async def verify(self, *, token: str) -> None:
        """Return when the server answers and offers exactly the pinned tools.

        Raises:
            KnowledgeError: It does not.
        """
        try:
            async with asyncio.timeout(self._timeout_seconds):
                tools = await self.list_tools(token=token)
        except TimeoutError as error:
            raise KnowledgeTimeoutError("the tool server went over its deadline") from error
        if self._pin is not None:
            check_pin(self._pin, tools)

    async def _check(self, response: httpx.Response, token: str) -> None:
        """Check the pinned tools at the first answer of each server process.

        A process that does not name itself is checked at every call.
        """
        instance = response.headers.get(INSTANCE_HEADER, "")
        if self._pin is None or instance in self._checked:
            return
        async with self._checking:
            if instance in self._checked:
                return
            check_pin(self._pin, await self.list_tools(token=token))
            if instance:
                self._checked[instance] = None
            if len(self._checked) > _MOST_INSTANCES:
                self._checked.pop(next(iter(self._checked)))

    async def _post(self, headers: dict[str, str], body: bytes, *, token: str) -> httpx.Response:
        headers["authorization"] = f"Bearer {token}"
        if current := request_id.get():
            headers[REQUEST_ID_HEADER] = current
        request = httpx.Request(
            "POST", self._url, headers=headers, content=body, extensions=_ONLY_CONNECTING_IS_TIMED
        )
        response = await self._send(request)
        if not response.is_success:
            raise error_of_status(response.status_code)
        return response

    async def _send(self, request: httpx.Request) -> httpx.Response:
        try:
            return await self._lanes.exchange(request)
        except httpx.ConnectTimeout as error:
            raise KnowledgeUnavailableError(
                "the tool server does not accept connections"
            ) from error
        except httpx.DecodingError as error:
            raise ToolContractError("the tool server's answer cannot be decoded") from error
        except httpx.TransportError:
            return await self._send_again(request)

    async def _send_again(self, request: httpx.Request) -> httpx.Response:
        # A kept connection may belong to a server that has restarted since. Every tool only reads,
        # so asking once more on a new connection is safe.
        await self._lanes.close_idle()
        try:
            return await self._lanes.exchange(request)
        except httpx.RequestError as error:
            raise KnowledgeUnavailableError("the tool server cannot be reached") from error


def _result_of(
    tool: ToolType[ResultT], outcome: CallOutcome[ResultT] | None
) -> tuple[ResultT, ReplyMeta]:
    if outcome is None:
        raise ToolContractError(f"{tool.name} answered nothing")
    if outcome.is_error:
        raise error_of_failure("".join(block.text for block in outcome.content))
    if outcome.structured is None:
        raise ToolContractError(f"{tool.name} answered without structured content")
    return outcome.structured, outcome.meta
