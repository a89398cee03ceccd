"""A hundred clients for ten seconds: answers, or a time to come back, in bounded memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.load.driver import run_load
from tests.load.stand import AgentName, stand

# Loaded models and libraries included; growth with the number of callers would pass it.
MOST_MEGABYTES = 700


@pytest.mark.timeout(300)
@pytest.mark.parametrize("agent", ["extractive", "scripted"])
async def test_a_hundred_clients_get_answers_or_a_time_to_come_back(
    agent: AgentName, tmp_path: Path
) -> None:
    with stand(tmp_path, agent) as (url, pids):
        outcome = await run_load(url, pids, clients=100, seconds=10)
    print(outcome.report())  # noqa: T201 - the figures of a run
    assert outcome.statuses <= {200, 429, 503}, outcome.report()
    assert outcome.without_time() == set()
    assert outcome.seconds
    assert max(max(values) for values in outcome.memory.values()) < MOST_MEGABYTES
