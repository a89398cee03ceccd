"""Questions asked with ``Prefer: respond-async``: taken in at once, answered later.

The row in the database is the question; a broker, where there is one, carries only its name. The
record of the answer is the same as that of any ask, and stands under the id given out here.
"""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime
from typing import cast

from pydantic import JsonValue, ValidationError

from backend.asking.queued_contract import FailedAsk, PendingAsk
from backend.caller import Caller, CallerScope
from backend.contract import AskRequest
from backend.errors import AskFailedError, AskPendingError, OverloadedError
from backend.problems import Problem
from storage.queued_asks import AskQueue, QueuedAskRecord

_RETRY_AFTER_SECONDS = 5
_PREFERENCE = "respond-async"


def prefers_async(prefer: str) -> bool:
    """Whether a ``Prefer`` header (RFC 7240) asks for an answer later."""
    preferences = (part.partition(";")[0].strip().lower() for part in prefer.split(","))
    return _PREFERENCE in preferences


class QueuedAsks:
    """Takes questions in and says what has become of them.

    Args:
        queue: Where they wait.
        most_waiting: More are turned away.
    """

    def __init__(self, queue: AskQueue, *, most_waiting: int) -> None:
        self.queue = queue
        self.added = asyncio.Event()
        """Set when a question came in here, for whoever works them off in this process."""
        self._most_waiting = most_waiting

    async def submit(self, request: AskRequest, caller: Caller) -> PendingAsk:
        """Take a question in; it is durable when this returns.

        Raises:
            OverloadedError: Too many wait already.
            StorageError: It cannot be stored.
        """
        row = QueuedAskRecord(
            id=str(uuid.uuid4()),
            request=request.model_dump(mode="json"),
            caller=write_caller(caller),
            labels=list(caller.labels),
        )
        if not await self.queue.submit(row, most_waiting=self._most_waiting):
            raise OverloadedError(
                f"{self._most_waiting} questions are queued already",
                retry_after_seconds=_RETRY_AFTER_SECONDS,
            )
        self.added.set()
        return _pending(row)

    async def look(self, ask_id: str, caller: Caller) -> PendingAsk | FailedAsk | None:
        """Return what has become of a question without a record; None: nothing the caller may see.

        Raises:
            StorageError: The database cannot be read.
        """
        row = await self.queue.find(ask_id)
        if row is None or not caller.may_read(row.labels):
            return None
        return _failed(row) if row.state == "failed" else _pending(row)

    async def require_absent(self, ask_id: str, caller: Caller) -> None:
        """Raise when a question has no record because it is not answered, or not yet.

        Raises:
            AskPendingError: It waits or is being answered.
            AskFailedError: It could not be answered.
        """
        found = await self.look(ask_id, caller)
        if isinstance(found, PendingAsk):
            raise AskPendingError("this question is not answered yet: look again in a moment")
        if isinstance(found, FailedAsk):
            problem = found.problem
            raise AskFailedError(f"this question was not answered: {problem.title}")


def write_caller(caller: Caller) -> dict[str, JsonValue]:
    """Return a caller as a row keeps it."""
    return {
        "name": caller.name,
        "labels": [*caller.labels],
        "scopes": [*sorted(caller.scopes)],
        "daily_tokens": caller.daily_tokens,
        "has_key": caller.has_key,
    }


def read_caller(kept: dict[str, JsonValue]) -> Caller:
    """Return the caller of a row."""
    return Caller(
        name=str(kept["name"]),
        labels=tuple(cast("list[str]", kept["labels"])),
        scopes=frozenset(cast("list[CallerScope]", kept["scopes"])),
        daily_tokens=cast("int", kept["daily_tokens"]),
        has_key=bool(kept["has_key"]),
    )


def _pending(row: QueuedAskRecord) -> PendingAsk:
    return PendingAsk(
        id=row.id,
        created_at=row.created_at.isoformat(),
        question=_question(row),
        state="running" if row.state == "running" else "queued",
        attempts=row.attempts,
    )


def _failed(row: QueuedAskRecord) -> FailedAsk:
    try:
        problem = Problem.model_validate(row.problem)
    except ValidationError:
        problem = Problem(title="Internal error", status=500, code="internal_error")
    return FailedAsk(
        id=row.id,
        created_at=row.created_at.isoformat(),
        failed_at=(row.finished_at or datetime.now(UTC)).isoformat(),
        question=_question(row),
        problem=problem,
    )


def _question(row: QueuedAskRecord) -> str:
    return str(row.request.get("question", ""))
