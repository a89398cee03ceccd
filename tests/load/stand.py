"""An installation under load, with the extractive agent or a model that takes long."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal

from tests import scripted_model
from tests.e2e.installation import Installation

AgentName = Literal["extractive", "scripted"]
MODEL_SECONDS = 2.0


def slowly(request: scripted_model.ChatRequest) -> scripted_model.Reply:
    """Answer from the evidence after the time that a large model takes."""
    threading.Event().wait(MODEL_SECONDS)
    return scripted_model.answers_from_evidence(request)


@contextmanager
def stand(folder: Path, agent: AgentName) -> Generator[tuple[str, dict[str, int]]]:
    """Run an installation; gives the API's address and the processes to watch."""
    made = Installation(folder)
    made.prepare()
    with ExitStack() as stack:
        variables: dict[str, str] = {}
        if agent == "scripted":
            model = stack.enter_context(scripted_model.serve(slowly))
            variables = {"OPENAI_BASE_URL": model.url, "VOUCH_MODEL": "scripted"}
        api = made.api(**variables)
        for process in (made.mcp, api):
            process.start()
            stack.callback(process.stop)
        yield api.url, {"api": api.pid, "mcp": made.mcp.pid}
