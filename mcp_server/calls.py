"""One tool call from its arguments to its answer, with its limits, its deadline and its record."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, JsonValue

from knowledge.contracts import STAGES_KEY, AuditRow
from mcp_server.audit import AuditTrail
from mcp_server.auth import Caller, current_caller
from mcp_server.errors import (
    INTERNAL_ERROR,
    AuditUnavailableError,
    UnknownToolError,
    failure_of,
    refuse,
)
from mcp_server.facts import Facts, facts_of, storable_arguments, storable_name
from mcp_server.limits import RateLimit, Turnstile
from mcp_server.metrics import ToolMetrics
from mcp_server.origin import origin
from mcp_server.rendering import render
from mcp_server.replies import StagedResult
from service.logs import get_logger, request_id

_log = get_logger(__name__)


class CallDesk:
    """Runs tool calls: admits, validates, times, records and maps every error.

    Args:
        trail: Where each call is recorded.
        metrics: Where each call is counted.
        rate: Calls a minute for each caller.
        turnstile: Calls at the same time.
        timeout_seconds: Longest time one call may take, waiting included.
        logs_arguments: Whether the log line holds the arguments, and so the questions.
    """

    def __init__(
        self,
        *,
        trail: AuditTrail,
        metrics: ToolMetrics,
        rate: RateLimit,
        turnstile: Turnstile,
        timeout_seconds: float,
        logs_arguments: bool = False,
    ) -> None:
        self._logs_arguments = logs_arguments
        self._trail = trail
        self._metrics = metrics
        self._rate = rate
        self._turnstile = turnstile
        self._timeout_seconds = timeout_seconds

    async def run(
        self, name: str, tool: Tool | None, arguments: Mapping[str, JsonValue]
    ) -> CallToolResult:
        """Run one call and return its answer; every expected error is part of the answer."""
        caller = current_caller()
        started = time.perf_counter()
        facts, error = Facts(), "cancelled"
        try:
            result = await self._run(name, tool, arguments, caller)
            answer = _answer(result)
            facts, error = facts_of(result), ""
            self._metrics.observe_result(result)
        except Exception as raised:  # noqa: BLE001 - the edge of the process: nothing may escape
            failure = failure_of(raised)
            answer, error = refuse(failure), failure.code
            if failure.code == INTERNAL_ERROR:
                _log.exception("tool_failed", tool=name)
        finally:
            claims = caller.claims
            row = AuditRow(
                ask_id=claims.ask_id,
                branch=claims.branch,
                caller=caller.name,
                tool=storable_name(name),
                arguments=storable_arguments(arguments),
                chunk_ids=facts.chunk_ids,
                cosines=facts.cosines,
                build=facts.build or claims.build,
                milliseconds=round((time.perf_counter() - started) * 1000, 3),
                error=error,
                tokens_in=facts.tokens_in,
                tokens_out=facts.tokens_out,
                created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
                request_id=request_id.get(),
            )
            self._record(row, known=tool is not None)
        return await self._settled(answer)

    def _record(self, row: AuditRow, *, known: bool) -> None:
        self._trail.record(row)
        tool = row.tool if known else "unknown"
        self._metrics.observe(
            tool=tool, branch=row.branch, milliseconds=row.milliseconds, error=row.error
        )
        said = origin.get()
        fields = row.model_dump(exclude={"created_at", "request_id"})
        if not self._logs_arguments:
            del fields["arguments"]
        _log.info("tool_call", **fields, platform=said.platform, trace=said.run)

    async def _settled(self, answer: CallToolResult) -> CallToolResult:
        try:
            await self._trail.settle()
        except AuditUnavailableError as error:
            return refuse(failure_of(error))
        return answer

    async def _run(
        self, name: str, tool: Tool | None, arguments: Mapping[str, JsonValue], caller: Caller
    ) -> BaseModel:
        if tool is None:
            raise UnknownToolError(f"there is no tool named {storable_name(name)!r}")
        self._trail.require_room()
        if limited := caller.rate_key:
            await self._rate.spend(limited)
        async with asyncio.timeout(self._timeout_seconds), self._turnstile.turn():
            checked = tool.fn_metadata.validate_arguments(dict(arguments))
            result: BaseModel = await tool.fn(**checked)
        return result


def _answer(result: BaseModel) -> CallToolResult:
    beside = (
        {STAGES_KEY: result.stages.model_dump(mode="json")}
        if isinstance(result, StagedResult)
        else None
    )
    return CallToolResult(
        content=[TextContent(type="text", text=render(result))],
        structured_content=result.model_dump(mode="json"),
        _meta=beside,
    )
