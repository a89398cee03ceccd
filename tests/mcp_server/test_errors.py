"""One mapping from any error to what a caller is told."""

from __future__ import annotations

import pytest

from knowledge.client_failures import error_of_failure
from knowledge.errors import (
    BuildGoneError,
    KnowledgeError,
    KnowledgeLimitedError,
    KnowledgeUnavailableError,
    ToolRefusedError,
)
from mcp_server import errors as server_errors
from mcp_server.errors import ToolServerError, failure_of
from retrieval import errors as retrieval_errors
from retrieval.errors import RetrievalError
from tests.mcp_server.fakes import FakeEngine, FakeOpener
from tests.mcp_server.serving import claims, connect, serve

KNOWN = [
    kind
    for module, root in ((retrieval_errors, RetrievalError), (server_errors, ToolServerError))
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, root)
]
EXPECTED: dict[str, type[KnowledgeError]] = {
    "index_unavailable": KnowledgeUnavailableError,
    "build_mismatch": KnowledgeUnavailableError,
    "build_gone": BuildGoneError,
    "model_unavailable": KnowledgeUnavailableError,
    "input_too_long": ToolRefusedError,
    "unknown_chunk": ToolRefusedError,
    "bad_request": ToolRefusedError,
    "bad_vector": KnowledgeUnavailableError,
    "service_busy": KnowledgeUnavailableError,
    "rerank_failed": KnowledgeUnavailableError,
    "retrieval_error": KnowledgeUnavailableError,
    "internal_error": KnowledgeUnavailableError,
    "not_authorised": ToolRefusedError,
    "unknown_tool": ToolRefusedError,
    "rate_limited": KnowledgeLimitedError,
    "overloaded": KnowledgeUnavailableError,
    "audit_unavailable": KnowledgeUnavailableError,
}


@pytest.mark.parametrize("kind", KNOWN, ids=lambda kind: kind.__name__)
def test_every_error_arrives_as_the_type_its_caller_can_act_on(
    kind: type[RetrievalError | ToolServerError],
) -> None:
    failure = failure_of(kind("the reason"))
    arrived = error_of_failure(failure.model_dump_json())
    assert failure.message == "the reason"
    assert type(arrived) is EXPECTED[kind.code]
    assert str(arrived) == "the reason"


def test_a_refusal_keeps_the_tools_own_code() -> None:
    failure = failure_of(retrieval_errors.UnknownChunkError("gone"))
    arrived = error_of_failure(failure.model_dump_json())
    assert isinstance(arrived, ToolRefusedError)
    assert arrived.code == "unknown_chunk"


async def test_a_crash_reaches_the_caller_without_its_text() -> None:
    engine = FakeEngine(crash=RuntimeError("password=hunter2 at /var/secret"))
    async with serve(opener=FakeOpener(engine)) as running, connect(running.url) as client:
        with pytest.raises(KnowledgeUnavailableError) as failed:
            await client.bind(claims()).search_kb("limit", 1)
        page = await client.read_audit("ask-1")
    assert "hunter2" not in str(failed.value)
    assert page.rows[0].error == "internal_error"
