"""Calibration artefacts: what ``vouch calibrate`` wrote and the guard reads."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import JSON
from sqlmodel import Field, col, select

from storage.columns import UtcDateTime, utc_now
from storage.database import Database
from storage.schema import Table


class CalibrationRecord(Table, table=True):
    """One artefact; the newest active one is in force.

    Attributes:
        id: Digest of the artefact, so that the same artefact is stored once.
        artefact: The artefact as JSON.
        drift_check: The newest check: build, changed_share, passed, created_at; empty before one.
        is_active: False once it was withdrawn.
    """

    __tablename__ = "calibrations"  # pyright: ignore[reportAssignmentType] - declared as a method

    id: str = Field(primary_key=True)
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime, index=True)
    name: str = ""
    is_active: bool = True
    artefact: dict[str, JsonValue] = Field(sa_type=JSON)
    drift_check: dict[str, JsonValue] = Field(default_factory=dict, sa_type=JSON)


class CalibrationStore:
    """Saves and finds artefacts.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, record: CalibrationRecord) -> None:
        """Store an artefact and put it in force; storing it again renews its date."""
        async with self._database.write() as session:
            await session.merge(record)

    async def in_force(self) -> CalibrationRecord | None:
        """Return the newest active artefact, or None."""
        query = (
            select(CalibrationRecord)
            .where(col(CalibrationRecord.is_active))
            .order_by(col(CalibrationRecord.created_at).desc())
        )
        async with self._database.read() as session:
            return (await session.exec(query.limit(1))).first()

    async def find(self, calibration_id: str) -> CalibrationRecord | None:
        """Return the artefact with this id, active or not, or None."""
        async with self._database.read() as session:
            return await session.get(CalibrationRecord, calibration_id)

    async def all(self) -> Sequence[CalibrationRecord]:
        """Return every artefact, newest first."""
        query = select(CalibrationRecord).order_by(col(CalibrationRecord.created_at).desc())
        async with self._database.read() as session:
            return (await session.exec(query)).all()

    async def note_check(self, calibration_id: str, drift_check: dict[str, JsonValue]) -> bool:
        """Keep the newest drift check with its artefact; says whether it was there."""
        async with self._database.write() as session:
            record = await session.get(CalibrationRecord, calibration_id)
            if record is None:
                return False
            record.drift_check = drift_check
            session.add(record)
            return True

    async def withdraw(self, calibration_id: str) -> bool:
        """Take an artefact out of force; says whether it was there."""
        async with self._database.write() as session:
            record = await session.get(CalibrationRecord, calibration_id)
            if record is None:
                return False
            record.is_active = False
            session.add(record)
            return True
