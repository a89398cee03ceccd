"""Questions through an agent gateway that calls the real tool server with the ask's own token."""

from __future__ import annotations

from typing import Any

import httpx

from tests import scripted_gateway
from tests.e2e.conftest import StartApi
from tests.e2e.installation import Installation

QUESTION = "How do I rotate the signing key?"
QUOTE = "Run `harbor keys rotate` to rotate the signing key [{first}]."


def ask(
    plan: scripted_gateway.Plan,
    *,
    client: httpx.Client,
    start_api: StartApi,
    installation: Installation,
) -> dict[str, Any]:
    with scripted_gateway.serve(plan) as gateway:
        api = start_api(
            VOUCH_AGENT="gateway",
            OPENAI_BASE_URL=gateway.url,
            VOUCH_GATEWAY_MCP_URL=f"{installation.mcp.url}/mcp",
        )
        return client.post(f"{api.url}/ask", json={"question": QUESTION}).json()


def test_a_gateway_that_searches_what_it_was_asked_is_proven_exact(
    client: httpx.Client, start_api: StartApi, installation: Installation
) -> None:
    body = ask(
        scripted_gateway.searches(None, then=QUOTE),
        client=client,
        start_api=start_api,
        installation=installation,
    )
    assert body["status"] == "answered"
    assert body["agent"]["kind"] == "gateway"
    assert body["fidelity"]["verdict"] == "exact"
    assert body["citations"]


def test_a_gateway_that_searches_something_else_has_diverged_and_the_ids_say_where(
    client: httpx.Client, start_api: StartApi, installation: Installation
) -> None:
    body = ask(
        scripted_gateway.searches("network ports and proxies", then="Done [{first}]."),
        client=client,
        start_api=start_api,
        installation=installation,
    )
    chunks, fidelity = body["retrieved_chunks"], body["fidelity"]
    guard = {chunk["chunk_id"] for chunk in chunks if chunk["in_guard_search"]}
    read = {chunk["chunk_id"] for chunk in chunks if chunk["read_by_agent"]}
    assert fidelity["verdict"] == "diverged"
    assert set(fidelity["guard_only"]) == guard - read != set()
    assert set(fidelity["agent_only"]) == read - guard
    assert set(fidelity["shared"]) == guard & read


def test_a_gateway_that_never_searches_is_refused_for_want_of_evidence(
    client: httpx.Client, start_api: StartApi, installation: Installation
) -> None:
    body = ask(
        scripted_gateway.never_searches,
        client=client,
        start_api=start_api,
        installation=installation,
    )
    assert body["status"] == "abstained"
    assert body["abstention"]["reason"] == "no_evidence"
    assert body["citations"] == []
