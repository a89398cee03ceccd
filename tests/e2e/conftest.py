"""One installation for the whole suite; each test starts the API it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import httpx
import pytest

from tests.e2e.installation import Installation, Process


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    made = Installation(tmp_path_factory.mktemp("installation"))
    made.prepare()
    made.mcp.start()
    yield made
    made.mcp.stop()


StartApi = Callable[..., Process]


@pytest.fixture(scope="session")
def plain_api(installation: Installation) -> Iterator[Process]:
    """An API without a model, for every test that does not change it."""
    process = installation.api()
    process.start()
    yield process
    process.stop()


@pytest.fixture
def start_api(installation: Installation) -> Iterator[StartApi]:
    with ExitStack() as stack:

        def start(**environment: str) -> Process:
            process = installation.api(**environment)
            process.start()
            stack.callback(process.stop)
            return process

        yield start


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=60, trust_env=False) as opened:
        yield opened
