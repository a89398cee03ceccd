"""The record of every ask: all that was asked, read, decided and shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import JSON, Text, delete
from sqlmodel import Field, col, select

from storage.columns import UtcDateTime, utc_now
from storage.database import Database
from storage.schema import Table

JsonObject = dict[str, JsonValue]


class AskRecord(Table, table=True):
    """One ask, complete enough to show it again exactly and to run it again.

    Attributes:
        source: The source filter; empty means every source.
        raw_text: What the agent wrote, before anything was removed.
        answer: What was shown.
        response: The response body as it went out.
        evidence: Every passage the agent received, with its numbers.
        searches: The guard's own searches, one for each part of the question: what was found, the
            verdict, and the candidate ids in the order each stage left them.
        tool_calls: Every call the agent made.
        audit: The tool server's rows for this ask, as they were when it ended.
        prompt: The messages as sent to the model; empty without one.
        reason: Why it abstained; empty when it answered.
        labels: Access labels of the caller; who lacks one of them may not read the record.
        versions: Of the product, the tool contract and the calibration.
        shadow: What the agent would have said after a refusal, when it was let finish unseen.
    """

    __tablename__ = "asks"  # pyright: ignore[reportAssignmentType] - declared as a method

    id: str = Field(primary_key=True)
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime, index=True)
    caller: str = Field(default="", index=True)
    conversation_id: str | None = Field(default=None, index=True)
    question: str = Field(sa_type=Text)
    search_question: str = Field(sa_type=Text)
    source: str = Field(default="", index=True)
    top_k: int
    status: str = Field(index=True)
    abstained: bool = Field(index=True)
    reason: str = Field(default="", index=True)
    answer: str = Field(sa_type=Text)
    raw_text: str = Field(default="", sa_type=Text)
    guard_mode: str
    best_cosine: float | None = None
    threshold: float
    probability: float | None = None
    fidelity: str = Field(index=True)
    lowest_support: float | None = None
    agent_kind: str
    model: str = Field(index=True)
    build: str = Field(index=True)
    response: JsonObject = Field(sa_type=JSON)
    verdict: JsonObject = Field(sa_type=JSON)
    searches: list[JsonObject] = Field(default_factory=list, sa_type=JSON)
    evidence: list[JsonObject] = Field(default_factory=list, sa_type=JSON)
    tool_calls: list[JsonObject] = Field(default_factory=list, sa_type=JSON)
    audit: list[JsonObject] = Field(default_factory=list, sa_type=JSON)
    prompt: list[JsonObject] = Field(default_factory=list, sa_type=JSON)
    labels: list[str] = Field(default_factory=list, sa_type=JSON)
    timings_ms: dict[str, float] = Field(default_factory=dict, sa_type=JSON)
    versions: dict[str, str] = Field(default_factory=dict, sa_type=JSON)
    shadow: JsonObject = Field(default_factory=dict, sa_type=JSON)


class AskStore:
    """Saves and finds records.

    Args:
        database: Where the records are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, record: AskRecord) -> None:
        """Store one record; it is committed when this returns.

        Raises:
            DatabaseUnavailableError: The record could not be stored.
        """
        async with self._database.write() as session:
            session.add(record)

    async def find(self, ask_id: str) -> AskRecord | None:
        """Return the record with this id, or None.

        Raises:
            DatabaseUnavailableError: The database cannot be read.
        """
        async with self._database.read() as session:
            return await session.get(AskRecord, ask_id)

    async def recent(self, *, limit: int, before: datetime | None = None) -> Sequence[AskRecord]:
        """Return records, newest first.

        Args:
            limit: At most this many.
            before: Only records made before this moment; None for no bound.
        """
        query = select(AskRecord).order_by(col(AskRecord.created_at).desc(), col(AskRecord.id))
        if before is not None:
            query = query.where(col(AskRecord.created_at) < before)
        async with self._database.read() as session:
            return (await session.exec(query.limit(limit))).all()

    async def conversation(
        self, conversation_id: str, *, caller: str, limit: int
    ) -> Sequence[AskRecord]:
        """Return the last asks of one caller's conversation, oldest first.

        Args:
            conversation_id: As the asks carry it; the first one may be found by its own id.
            caller: Nobody else's asks are part of it.
            limit: At most this many.
        """
        is_part = (col(AskRecord.conversation_id) == conversation_id) | (
            col(AskRecord.id) == conversation_id
        )
        query = (
            select(AskRecord)
            .where(is_part, col(AskRecord.caller) == caller)
            .order_by(col(AskRecord.created_at).desc(), col(AskRecord.id))
            .limit(limit)
        )
        async with self._database.read() as session:
            return [*reversed((await session.exec(query)).all())]

    async def note_shadow(self, ask_id: str, shadow: JsonObject) -> None:
        """Keep what the agent would have said with its record."""
        async with self._database.write() as session:
            record = await session.get(AskRecord, ask_id)
            if record is not None:
                record.shadow = shadow
                session.add(record)

    async def purge(self, before: datetime) -> int:
        """Delete records older than ``before``; returns how many."""
        async with self._database.write() as session:
            result = await session.exec(delete(AskRecord).where(col(AskRecord.created_at) < before))
            return result.rowcount
