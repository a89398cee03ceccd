"""One request id in the lines of every process that worked on the request."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from tests.e2e.installation import Installation, Process

# Several processes are started, which takes long on a busy machine.
pytestmark = pytest.mark.timeout(400)

REQUEST_ID = "asked-by-a-test-42"


def lines_with(path: Path, request_id: str) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line for line in lines if line.get("request_id") == request_id]


def test_a_request_is_followed_by_its_id_from_the_api_into_the_tool_server(
    client: httpx.Client, installation: Installation, plain_api: Process
) -> None:
    question = "How do I rotate the signing key?"
    reply = client.post(
        f"{plain_api.url}/ask", json={"question": question}, headers={"x-request-id": REQUEST_ID}
    )
    assert reply.headers["x-request-id"] == REQUEST_ID
    api = lines_with(plain_api.log, REQUEST_ID)
    mcp = lines_with(installation.mcp.log, REQUEST_ID)
    assert [line["status"] for line in api if line["event"] == "request"] == [200]
    calls = [line for line in mcp if line["event"] == "tool_call"]
    assert {line["branch"] for line in calls} >= {"agent", "guard"}
    assert {line["process"] for line in (*api, *mcp)} == {"api", "mcp"}
    # What was asked is nowhere in the logs.
    assert question not in plain_api.log.read_text() + installation.mcp.log.read_text()
