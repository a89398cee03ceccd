"""SIGTERM lets an ask that is under way finish, and nobody new is let in."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import pytest

from tests import scripted_model as model
from tests.e2e.installation import Installation, Process

# Several processes are started, which takes long on a busy machine.
pytestmark = pytest.mark.timeout(400)

QUESTION = {"question": "How do I rotate the signing key?"}


def ask(api: Process, *, seconds: float = 60) -> httpx.Response:
    with httpx.Client(timeout=seconds, trust_env=False) as client:
        return client.post(f"{api.url}/ask", json=QUESTION)


def refuses_new(api: Process) -> bool:
    """Whether a new ask is turned away; one let in before the signal was seen waits in vain."""
    try:
        return ask(api, seconds=1).status_code == 503
    except httpx.ReadTimeout:
        return False
    except httpx.TransportError:
        return True


def test_a_stopping_api_finishes_what_is_under_way_and_takes_nothing_new(
    broken: Installation,
) -> None:
    goes_on = threading.Event()
    reply = model.say("Run `harbor keys rotate` to rotate the signing key [1].")
    with ExitStack() as stack:
        scripted = stack.enter_context(model.serve(model.always(model.wait_for(goes_on, reply))))
        stack.callback(goes_on.set)
        broken.mcp.start()
        api = broken.api(OPENAI_BASE_URL=scripted.url, VOUCH_MODEL="scripted")
        api.start()
        stack.callback(api.stop)
        pool = stack.enter_context(ThreadPoolExecutor(1))
        asked = pool.submit(ask, api)
        assert scripted.arrived.wait(60)
        os.kill(api.pid, signal.SIGTERM)
        pause = threading.Event()
        while not refuses_new(api):
            pause.wait(0.05)
        goes_on.set()
        answer = asked.result(60)
        assert (answer.status_code, answer.json()["status"]) == (200, "answered")
        assert api.running is not None
        assert api.running.wait(30) in {0, -signal.SIGTERM}


def test_a_tool_server_that_stops_under_an_ask_is_a_typed_outcome_and_comes_back(
    broken: Installation,
) -> None:
    broken.mcp.start()
    api = broken.api()
    with ExitStack() as stack:
        api.start()
        stack.callback(api.stop)
        assert ask(api).status_code == 200
        pool = stack.enter_context(ThreadPoolExecutor(4))
        asked = [pool.submit(ask, api) for _ in range(8)]
        broken.mcp.stop()
        assert {each.result(60).status_code for each in asked} <= {200, 503}
        broken.mcp.start()
        assert ask(api).status_code == 200
