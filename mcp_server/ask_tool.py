"""The ``ask`` tool of the stdio bridge: a whole guarded answer, from the API's own door.

The tool server itself never answers: it owns the index and decides nothing. A desktop host that
wants an answer instead of passages gets it from ``POST /ask``, where the guard has the last word.
"""

from __future__ import annotations

from typing import Annotated

import httpx2
from mcp.types import CallToolResult, TextContent, Tool, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from knowledge.contracts import ToolFailure
from mcp_server.errors import refuse
from service.logs import get_logger

ASK = "ask"
_AWAY = "the API cannot be reached; start it with `vouch up`"
_MOST_SHOWN_CHARACTERS = 300

_log = get_logger(__name__)


class AskArguments(BaseModel):
    """Arguments of the tool."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: Annotated[
        str, Field(min_length=1, max_length=2000, description="A whole question, in plain words.")
    ]
    source: Annotated[
        str, Field(max_length=200, description="One source to search in; empty for every source.")
    ] = ""


class _Cited(BaseModel):
    number: int
    chunk_id: str
    title: str
    section_heading: str
    source_url: str
    quote: str
    verified: bool


class _Abstained(BaseModel):
    reason: str
    detail: str


class GuardedAnswer(BaseModel):
    """What the tool gives as structured content: the answer, or why there is none."""

    id: str
    status: str
    abstained: bool
    answer: str
    abstention: _Abstained | None = None
    citations: tuple[_Cited, ...] = ()
    proposals: tuple[str, ...] = ()


ASK_TOOL = Tool(
    name=ASK,
    title="Ask the documentation",
    description=(
        "Answer a question from the indexed documentation, with citations. When the documentation "
        "does not carry an answer, the result says so (abstained is true): tell the user that, and "
        "do not answer from other knowledge. Use search_kb to look for passages instead."
    ),
    input_schema=AskArguments.model_json_schema(),
    output_schema=GuardedAnswer.model_json_schema(),
    annotations=ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    ),
)


class AskDoor:
    """Asks the API.

    Args:
        url: Address of the API, without a path.
        timeout_seconds: Longest time one question may take.
    """

    def __init__(self, url: str, *, timeout_seconds: float = 90.0) -> None:
        self._url = f"{url.rstrip('/')}/ask"
        self._timeout_seconds = timeout_seconds

    async def call(self, arguments: dict[str, JsonValue] | None) -> CallToolResult:
        """Return the guarded answer, or the refusal of a call that cannot be served."""
        try:
            asked = AskArguments.model_validate(arguments or {})
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            message = f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
            return refuse(ToolFailure(code="invalid_arguments", message=message))
        body = {"question": asked.question, "source": asked.source or None}
        try:
            async with httpx2.AsyncClient(timeout=self._timeout_seconds, trust_env=False) as client:
                reply = await client.post(self._url, json=body)
        except httpx2.HTTPError as error:
            _log.warning("ask_failed", reason=repr(error))
            return refuse(ToolFailure(code="api_unavailable", message=_AWAY, retryable=True))
        return _read(reply)


def _read(reply: httpx2.Response) -> CallToolResult:
    if reply.is_error:
        message = reply.text[:_MOST_SHOWN_CHARACTERS]
        is_late = reply.status_code >= httpx2.codes.INTERNAL_SERVER_ERROR
        return refuse(ToolFailure(code="ask_refused", message=message, retryable=is_late))
    try:
        answer = GuardedAnswer.model_validate_json(reply.content)
    except ValidationError as error:
        _log.warning("ask_unreadable", reason=repr(error))
        return refuse(ToolFailure(code="api_unavailable", message=_AWAY))
    return CallToolResult(
        content=[TextContent(type="text", text=_write(answer))],
        structured_content=answer.model_dump(mode="json"),
    )


def _write(answer: GuardedAnswer) -> str:
    lines = [answer.answer]
    if answer.abstention:
        lines.append(answer.abstention.detail)
    lines += [f"- {text}" for text in answer.proposals]
    lines += [
        f"[{one.number}] {one.title} › {one.section_heading} {one.source_url}".rstrip()
        for one in answer.citations
    ]
    return "\n".join(lines)
