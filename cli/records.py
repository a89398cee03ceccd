"""``vouch records``: recorded questions are deleted on the machine that has the databases."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from cli.console import err
from cli.settings import UpSettings, gather_environment, read_settings
from service.errors import VouchError
from storage.columns import utc_now
from storage.database import Database, database_url
from storage.erasing import AuditEraser, RecordEraser
from storage.spending import SpendingStore

_BATCH = 100
_SPOOL = "spool"


class RecordCommandError(VouchError):
    """What was asked of records cannot be done; the message says why."""

    code = "bad_record_command"


@dataclass(frozen=True, slots=True)
class _Places:
    """Where records are: the database, and the audit, which may be the same one."""

    records: Database
    audit: Database


def run_delete(ask_id: str) -> None:
    """Delete one record.

    Raises:
        RecordCommandError: There is none with this id.
    """

    async def work(places: _Places) -> int:
        await AuditEraser(places.audit).erase([ask_id])
        return await RecordEraser(places.records).erase([ask_id])

    spooled = _unspool(lambda record: record.get("id") == ask_id)
    if not _with_places(work) and not spooled:
        raise RecordCommandError(f"there is no record {ask_id}")
    err.print("1 record deleted")


def run_delete_of(caller: str) -> None:
    """Delete every record of a caller, and what it left beside them."""

    async def work(places: _Places) -> int:
        eraser = RecordEraser(places.records)
        await AuditEraser(places.audit).erase([], caller)
        count = await _erase_all(places, lambda: eraser.ids_of(caller, limit=_BATCH))
        await eraser.erase_beside(caller)
        return count

    count = _unspool(lambda record: record.get("caller") == caller) + _with_places(work)
    err.print(f"{count} records deleted")


def run_purge(days: int) -> None:
    """Delete every record older than some days, with the audit of that time."""
    moment = utc_now() - timedelta(days=days)

    async def work(places: _Places) -> int:
        eraser = RecordEraser(places.records)
        count = await _erase_all(places, lambda: eraser.ids_before(moment, limit=_BATCH))
        await AuditEraser(places.audit).erase_before(moment)
        await SpendingStore(places.records).purge(moment.date())
        return count

    count = _unspool(lambda record: str(record.get("created_at")) < moment.isoformat())
    err.print(f"{count + _with_places(work)} records deleted")


async def _erase_all(places: _Places, find: Callable[[], Awaitable[Sequence[str]]]) -> int:
    count = 0
    while ask_ids := await find():
        await AuditEraser(places.audit).erase(ask_ids)
        count += await RecordEraser(places.records).erase(ask_ids)
    return count


def _with_places(work: Callable[[_Places], Awaitable[int]]) -> int:
    settings = _settings()

    async def run() -> int:
        records, audit = (
            Database(database_url(settings.database_url, settings.data_dir, name))
            for name in ("vouch", "audit")
        )
        places = _Places(records, audit)
        try:
            count = await work(places)
            await places.records.wipe_log()
            await places.audit.wipe_log()
            return count
        finally:
            await places.records.close()
            await places.audit.close()

    return asyncio.run(run())


def _unspool(is_wanted: Callable[[dict[str, object]], bool]) -> int:
    count = 0
    for path in sorted((_settings().data_dir / _SPOOL).glob("*.json")):
        record: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
        if is_wanted(record):
            path.unlink(missing_ok=True)
            count += 1
    return count


def _settings() -> UpSettings:
    return read_settings(UpSettings, gather_environment(Path(".env")))
