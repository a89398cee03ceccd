"""Column types that behave the same on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import DateTime, Dialect
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """A point in time, always aware and in UTC.

    SQLite forgets the zone and PostgreSQL keeps it; with this type both give the same value back.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    # The base class gives the dialect; the value is the same on each.
    def process_bind_param(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002 - part of the base class's signature
    ) -> datetime | None:
        """Store in UTC.

        Raises:
            ValueError: The time has no zone, so nobody can know which moment it means.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a stored time needs a zone")
        return value.astimezone(UTC)

    def process_result_value(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002 - part of the base class's signature
    ) -> datetime | None:
        """Return an aware time in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def utc_now() -> datetime:
    """Return the present moment, aware and in UTC."""
    return datetime.now(UTC)
