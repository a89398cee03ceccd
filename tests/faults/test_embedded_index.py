"""The index on this disk: absent at start, spoilt while it is served, spoilt at start, and back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.e2e.installation import CORPUS, Installation, Process

# Several processes are started, which takes long on a busy machine.
pytestmark = pytest.mark.timeout(400)

QUESTION = {"question": "How do I rotate the signing key?"}


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[tuple[Installation, Process]]:
    made = Installation(tmp_path)
    made.migrate()
    api = made.api()
    with ExitStack() as stack:
        for process in (made.mcp, api):
            process.start(alive_is_enough=True)
            stack.callback(process.stop)
        yield made, api


def ask(api: Process) -> httpx.Response:
    with httpx.Client(timeout=60, trust_env=False) as client:
        return client.post(f"{api.url}/ask", json=QUESTION)


def ask_until(api: Process, status: int) -> httpx.Response:
    pause = threading.Event()
    for _ in range(300):
        reply = ask(api)
        if reply.status_code == status:
            return reply
        # The pointer is looked at every half second: there is no event to wait for.
        pause.wait(0.1)
    pytest.fail(f"never {status}: {ask(api).text}")


def index_status(made: Installation) -> str:
    with httpx.Client(timeout=30, trust_env=False) as client:
        health = client.get(f"{made.mcp.url}/healthz").json()
    return health["checks"]["index"]["status"]


def is_refused(reply: httpx.Response) -> bool:
    return (reply.status_code, reply.json()["code"]) == (503, "knowledge_unavailable")


def test_an_index_that_comes_later_is_served_without_a_restart(
    empty: tuple[Installation, Process],
) -> None:
    made, api = empty
    assert is_refused(ask(api))
    made.ingest(CORPUS)
    assert ask_until(api, 200).json()["status"] == "answered"


def test_a_pointer_spoilt_while_serving_leaves_the_build_in_force_and_is_said(
    empty: tuple[Installation, Process],
) -> None:
    made, api = empty
    made.ingest(CORPUS)
    assert ask_until(api, 200)
    (pointer,) = made.folder.rglob("current")
    good = pointer.read_bytes()
    pointer.write_bytes(b"\x00\xff no build \r\n")
    pause = threading.Event()
    while index_status(made) != "degraded":
        pause.wait(0.1)
    assert ask(api).status_code == 200
    made.mcp.stop()
    made.mcp.start(alive_is_enough=True)
    assert is_refused(ask(api))
    pointer.write_bytes(good)
    assert ask_until(api, 200).json()["status"] == "answered"
