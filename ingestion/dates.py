"""Dates as documents write them to UTC, ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

_AMERICAN = re.compile(r"^(\d{1,2})/(\d{1,2})/(\d{4})$")


def iso_utc(text: str) -> str:
    """Return a date or time in UTC, ISO 8601 to the second; empty when it cannot be told.

    A time without a zone is taken for UTC, a date for its midnight.
    """
    found = _parse(text.strip())
    if found is None:
        return ""
    aware = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    return aware.isoformat(timespec="seconds")


def _parse(text: str) -> datetime | None:
    american = _AMERICAN.match(text)
    try:
        if american:
            month, day, year = (int(part) for part in american.groups())
            return datetime.combine(date(year, month, day), datetime.min.time())
        return datetime.fromisoformat(text)
    except ValueError:
        pass  # not ISO 8601: mail and feeds have a form of their own
    try:
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
