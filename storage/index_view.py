"""What workers tell about the index and themselves, for processes that cannot see it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import JSON, Text, update
from sqlmodel import Field, col, select

from storage.columns import UtcDateTime, utc_now
from storage.database import Database
from storage.schema import Table


class WorkerRecord(Table, table=True):
    """One worker that has announced itself.

    Attributes:
        name: Host and process.
        seen_at: When it was last alive.
        profiles: Ingestion profiles it knows.
    """

    __tablename__ = "workers"  # pyright: ignore[reportAssignmentType] - declared as a method

    name: str = Field(primary_key=True)
    seen_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime, index=True)
    profiles: list[str] = Field(default_factory=list, sa_type=JSON)


class IndexViewRecord(Table, table=True):
    """The builds of a collection as a worker last saw them.

    Attributes:
        current: Name of the build in force; empty for none.
        builds: Their manifests, newest first.
    """

    __tablename__ = "index_views"  # pyright: ignore[reportAssignmentType] - declared as a method

    collection: str = Field(primary_key=True)
    seen_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    current: str = ""
    builds: list[dict[str, JsonValue]] = Field(default_factory=list, sa_type=JSON)


class SourceRecord(Table, table=True):
    """One source that a job ingested: where it comes from and how fresh it is.

    Attributes:
        request: What to order to ingest it again.
        refresh_seconds: Read again after so long; 0: only when asked.
        validators: ``ETag`` and ``Last-Modified`` of the address at the last reading.
    """

    __tablename__ = "sources"  # pyright: ignore[reportAssignmentType] - declared as a method

    name: str = Field(primary_key=True)
    location: str = Field(default="", sa_type=Text)
    profile: str = "default"
    request: dict[str, JsonValue] = Field(default_factory=dict, sa_type=JSON)
    ingested_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    checked_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    refresh_seconds: int = 0
    validators: dict[str, JsonValue] = Field(default_factory=dict, sa_type=JSON)


class IndexView:
    """Keeps and returns what workers tell.

    Args:
        database: Where it is kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def announce(self, worker: str, profiles: Collection[str]) -> None:
        """Say that a worker is alive and which profiles it knows."""
        async with self._database.write() as session:
            await session.merge(WorkerRecord(name=worker, profiles=sorted(profiles)))

    async def workers(self) -> Sequence[WorkerRecord]:
        """Return all workers ever seen, the latest first."""
        query = select(WorkerRecord).order_by(col(WorkerRecord.seen_at).desc())
        async with self._database.read() as session:
            return (await session.exec(query)).all()

    async def show(
        self, collection: str, current: str, builds: Sequence[Mapping[str, JsonValue]]
    ) -> None:
        """Keep the present builds."""
        record = IndexViewRecord(
            collection=collection, current=current, builds=[dict(build) for build in builds]
        )
        async with self._database.write() as session:
            await session.merge(record)

    async def latest(self) -> IndexViewRecord | None:
        """Return the builds as last seen."""
        query = select(IndexViewRecord).order_by(col(IndexViewRecord.seen_at).desc()).limit(1)
        async with self._database.read() as session:
            return (await session.exec(query)).first()

    async def keep_sources(self, sources: Sequence[SourceRecord]) -> None:
        """Keep where sources come from and when they were read."""
        async with self._database.write() as session:
            for source in sources:
                await session.merge(source)

    async def take(self, source: SourceRecord) -> bool:
        """Note that a source is being looked at; False when somebody else did so meanwhile."""
        async with self._database.write() as session:
            taken = await session.exec(
                update(SourceRecord)
                .where(
                    col(SourceRecord.name) == source.name,
                    col(SourceRecord.checked_at) == source.checked_at,
                )
                .values(checked_at=utc_now())
            )
            return taken.rowcount == 1

    async def sources(self) -> Sequence[SourceRecord]:
        """Return every source that a job ingested, by name."""
        async with self._database.read() as session:
            query = select(SourceRecord).order_by(col(SourceRecord.name))
            return (await session.exec(query)).all()
