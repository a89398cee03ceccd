"""Audit rows in the SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from knowledge.contracts import AuditRow
from storage.audit import AuditEntry, AuditLog, AuditValues
from storage.database import Database
from storage.erasing import AuditEraser


class SqlAuditSink:
    """Writes rows in groups and reads them back; implements ``AuditSink``.

    Args:
        database: Where the audit table is.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._log = AuditLog(database)
        self._eraser = AuditEraser(database)

    async def write(self, rows: Sequence[AuditRow]) -> None:
        """Store rows in one transaction."""
        await self._log.append_all([_values(row) for row in rows])

    async def rows(self, ask_id: str) -> Sequence[AuditRow]:
        """Return the stored rows of an ask in the order they were written."""
        return [_row(entry) for entry in await self._log.of_ask(ask_id)]

    async def calls(self, caller: str, start: datetime, end: datetime) -> Sequence[AuditRow]:
        """Return the stored rows of one caller between two times, in order."""
        return [_row(entry) for entry in await self._log.of_caller(caller, start, end)]

    async def erase(self, ask_ids: Sequence[str], caller: str) -> int:
        """Delete the rows of asks, and of one signed caller unless it is empty."""
        count = await self._eraser.erase(ask_ids, caller)
        await self._wipe(count)
        return count

    async def erase_before(self, moment: datetime) -> int:
        """Delete the rows of calls made before a moment."""
        count = await self._eraser.erase_before(moment)
        await self._wipe(count)
        return count

    async def _wipe(self, count: int) -> None:
        if count:
            await self._database.wipe_log()


def _values(row: AuditRow) -> AuditValues:
    return AuditValues(
        created_at=datetime.fromisoformat(row.created_at),
        ask_id=row.ask_id,
        branch=row.branch,
        caller=row.caller,
        request_id=row.request_id,
        tool=row.tool,
        arguments=row.arguments,
        chunk_ids=list(row.chunk_ids),
        cosines=list(row.cosines),
        build=row.build,
        milliseconds=row.milliseconds,
        error=row.error,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
    )


def _row(entry: AuditEntry) -> AuditRow:
    return AuditRow(
        ask_id=entry.ask_id,
        branch=entry.branch,
        caller=entry.caller,
        tool=entry.tool,
        arguments=entry.arguments,
        chunk_ids=tuple(entry.chunk_ids),
        cosines=tuple(entry.cosines),
        build=entry.build,
        milliseconds=entry.milliseconds,
        error=entry.error,
        tokens_in=entry.tokens_in,
        tokens_out=entry.tokens_out,
        created_at=entry.created_at.isoformat(timespec="milliseconds"),
        request_id=entry.request_id,
    )
