"""An application around fakes, with a real database."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from agent.contract import Agent
from backend.app import create_app
from backend.asking.index_watch import IndexWatch
from backend.asking.ports import SufficiencyCheck
from backend.services import Services, compose
from backend.settings import ApiSettings
from service.circuits import Circuits
from service.limiter import Limiter
from storage import migrate
from storage.database import Database, database_url
from tests.backend.fakes import FakeKnowledge


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with every table, to be copied."""
    folder = tmp_path_factory.mktemp("migrated")
    migrate.upgrade(database_url("", folder, "vouch"))
    return folder / "vouch.db"


@pytest.fixture
def settings(tmp_path: Path, migrated: Path) -> ApiSettings:
    shutil.copy(migrated, tmp_path / "vouch.db")
    url = database_url("", tmp_path, "vouch")
    return ApiSettings(
        data_dir=tmp_path, database_url=url, signing_key=SecretStr("0123456789abcdef")
    )


Compose = Callable[..., Awaitable[Services]]


@pytest.fixture
async def make_services(settings: ApiSettings) -> AsyncIterator[Compose]:
    async with AsyncExitStack() as stack:

        async def make(
            knowledge: FakeKnowledge,
            agent: Agent,
            sufficiency: SufficiencyCheck | None = None,
            *,
            limiter: Limiter | None = None,
            circuits: Circuits | None = None,
            **changes: object,
        ) -> Services:
            adjusted = settings.model_copy(update=changes)
            database = Database(adjusted.database_url)
            stack.push_async_callback(database.close)
            # No memory: a test changes the index and sees it at once.
            index = IndexWatch(knowledge, fresh_seconds=-1.0)
            return compose(
                adjusted, knowledge, agent, database=database, registry=CollectorRegistry(),
                index=index, sufficiency=sufficiency, limiter=limiter, circuits=circuits,
            )  # fmt: skip

        yield make


Connect = Callable[..., Awaitable[httpx.AsyncClient]]


@pytest.fixture
async def connect(settings: ApiSettings, make_services: Compose) -> AsyncIterator[Connect]:
    async with AsyncExitStack() as stack:

        async def make(
            knowledge: FakeKnowledge,
            agent: Agent,
            *,
            limiter: Limiter | None = None,
            circuits: Circuits | None = None,
            **changes: object,
        ) -> httpx.AsyncClient:
            services = await make_services(
                knowledge, agent, limiter=limiter, circuits=circuits, **changes
            )

            @asynccontextmanager
            async def opener(_: ApiSettings) -> AsyncGenerator[Services]:
                yield services

            app = create_app(settings.model_copy(update=changes), opener)
            await stack.enter_async_context(app.router.lifespan_context(app))
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            return await stack.enter_async_context(
                httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000")
            )

        yield make
