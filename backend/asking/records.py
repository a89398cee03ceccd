"""The record of an ask is stored before its answer goes out; an answer without one is not given.

When the database is down the policy decides: refuse with 503, or write the record to the spool
folder, say so in the response, and move it to the database once that is back.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from backend.caller import Caller
from backend.contract import AskResponse
from backend.errors import RecordUnavailableError, UnknownAskError
from backend.metrics import AskMetrics
from backend.settings import RecordPolicy
from service.logs import get_logger
from storage.asks import AskRecord
from storage.errors import StorageError

_logger = get_logger(__name__)


class RecordStore(Protocol):
    """Where records are kept. Every method raises ``StorageError`` when it is down."""

    async def save(self, record: AskRecord) -> None:
        """Store one record."""
        ...

    async def find(self, ask_id: str) -> AskRecord | None:
        """Return the record with this id, or None."""
        ...


class Recorder:
    """Stores and finds records under a policy.

    Args:
        store: Where records are kept.
        policy: What happens when the store is down.
        spool: Folder for records that wait for it.
        metrics: Counts what waits.
    """

    def __init__(
        self, store: RecordStore, *, policy: RecordPolicy, spool: Path, metrics: AskMetrics
    ) -> None:
        self._store = store
        self._policy = policy
        self._spool = spool
        self._metrics = metrics
        # Records of an earlier run may be waiting.
        self._has_spooled = True

    async def store(self, record: AskRecord) -> AskRecord:
        """Store a record; returns it as stored, which says so when it went to the spool.

        Raises:
            RecordUnavailableError: The database is down and the policy is to refuse.
        """
        try:
            await self._store.save(record)
        except StorageError as error:
            _logger.warning("record cannot be stored", ask_id=record.id, detail=str(error))
            if self._policy == "refuse":
                raise RecordUnavailableError(
                    "the record of this question cannot be stored, so it is not answered"
                ) from error
            return await self._write_spool(record)
        if self._has_spooled:
            await self.drain()
        return record

    async def find(self, ask_id: str, caller: Caller) -> AskRecord:
        """Return a record.

        Raises:
            UnknownAskError: There is none that the caller may read.
            StorageError: The database cannot be read.
        """
        record = await self._read_spool(ask_id) or await self._store.find(ask_id)
        if record is None or not caller.may_read(record.labels):
            raise UnknownAskError("there is no such record")
        return record

    async def drain(self) -> int:
        """Move records from the spool to the database; returns how many went."""
        waiting = await asyncio.to_thread(self._list_spool)
        moved = 0
        for path in waiting:
            record = await asyncio.to_thread(_read, path)
            if record is None:
                continue
            try:
                if await self._store.find(record.id) is None:
                    await self._store.save(record)
            except StorageError as error:
                _logger.warning("the spool has to wait", detail=str(error))
                break
            await asyncio.to_thread(path.unlink)
            moved += 1
        self._has_spooled = moved < len(waiting)
        self._metrics.spooled.set(len(waiting) - moved)
        return moved

    async def unspool(self, is_wanted: Callable[[AskRecord], bool]) -> int:
        """Delete records that wait on disk; returns how many."""
        count = 0
        for path in await asyncio.to_thread(self._list_spool):
            record = await asyncio.to_thread(_read, path)
            if record is not None and is_wanted(record):
                await asyncio.to_thread(path.unlink, missing_ok=True)
                self._metrics.spooled.dec()
                count += 1
        return count

    async def _write_spool(self, record: AskRecord) -> AskRecord:
        response = AskResponse.model_validate(record.response)
        said = response.model_copy(update={"degraded": (*response.degraded, "record_spooled")})
        record.response = said.model_dump(mode="json", by_alias=True)
        text = record.model_dump_json()
        try:
            await asyncio.to_thread(_write, self._spool / f"{record.id}.json", text)
        except OSError as error:
            raise RecordUnavailableError("neither database nor spool can be written") from error
        self._has_spooled = True
        self._metrics.spooled.inc()
        return record

    async def _read_spool(self, ask_id: str) -> AskRecord | None:
        path = self._spool / f"{ask_id}.json"
        # An id from an address must not lead out of the folder.
        if not self._has_spooled or not ask_id.replace("-", "").isalnum():
            return None
        return await asyncio.to_thread(_read, path)

    def _list_spool(self) -> list[Path]:
        return sorted(self._spool.glob("*.json")) if self._spool.is_dir() else []


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".tmp")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def _read(path: Path) -> AskRecord | None:
    try:
        # Not ``model_validate_json``: for a table it takes whatever is there, unchecked.
        return AskRecord.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except ValueError:
        _logger.exception("spooled record cannot be read", path=str(path))
        return None
