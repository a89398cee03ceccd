"""Databases for the storage tests: a SQLite file, and a PostgreSQL database made and dropped."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from storage.database import driver_url
from tests.services import require_port

ADMIN_URL = os.environ.get(
    "VOUCH_TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/postgres"
)


def _execute(statement: str) -> None:
    async def run() -> None:
        engine = create_async_engine(
            driver_url(ADMIN_URL), isolation_level="AUTOCOMMIT", connect_args={"timeout": 3}
        )
        try:
            async with engine.connect() as connection:
                await connection.execute(text(statement))
        finally:
            await engine.dispose()

    asyncio.run(run())


@contextmanager
def temporary_postgres() -> Generator[str]:
    """Make a PostgreSQL database for the length of a with block; skips where there is none."""
    name = f"vouch_test_{uuid.uuid4().hex[:12]}"
    require_port(driver_url(ADMIN_URL).port or 5432, "PostgreSQL on loopback")
    _execute(f"CREATE DATABASE {name}")
    try:
        yield f"{ADMIN_URL.rpartition('/')[0]}/{name}"
    finally:
        _execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def postgres_url() -> Iterator[str]:
    with temporary_postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'vouch.db'}"
    found: str = request.getfixturevalue("postgres_url")
    return found
