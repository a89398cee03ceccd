"""Deletes audit rows that are older than they may get."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from mcp_server.audit import AuditTrail
from mcp_server.errors import AuditUnavailableError
from service.logs import get_logger
from storage.columns import utc_now

_SWEEP_SECONDS = 3600.0

_log = get_logger(__name__)


async def sweep_audit(trail: AuditTrail, *, days: int) -> None:
    """Delete old rows now and every hour, until cancelled.

    Args:
        trail: The audit.
        days: How long rows are kept; zero keeps them for ever, and this returns at once.
    """
    while days:
        try:
            rows = await trail.erase_before(utc_now() - timedelta(days=days))
            if rows:
                _log.info("old_audit_deleted", rows=rows, days=days)
        except AuditUnavailableError as error:
            _log.warning("old_audit_waits", reason=str(error))
        await asyncio.sleep(_SWEEP_SECONDS)
