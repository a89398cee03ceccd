"""Reads addresses again after a while; one that says it has not changed is not read at all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

import httpx

from service.errors import VouchError
from service.logs import get_logger
from storage.columns import utc_now
from storage.index_view import IndexView, SourceRecord
from storage.job_orders import IngestOrder
from storage.jobs import JobRecord, JobStore

_REQUESTER = "schedule"
_NOT_MODIFIED = 304
# A list that is as it was says nothing of the pages it lists.
_LISTS = ("sitemap.xml", ".xml", ".xml.gz", "llms.txt")

_logger = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Look:
    """What an address says of itself.

    Attributes:
        validators: ``etag`` and ``last-modified``, as far as it has them.
    """

    is_unchanged: bool
    validators: Mapping[str, str]


LookAt = Callable[[str, Mapping[str, str]], Look]


class Refresher:
    """Orders sources anew that are due.

    Args:
        view: Which sources there are and when they were looked at.
        jobs: Where orders go.
        look: Asks an address whether it changed; blocks.
    """

    def __init__(self, view: IndexView, jobs: JobStore, look: LookAt) -> None:
        self._view = view
        self._jobs = jobs
        self._look = look

    async def run(self) -> int:
        """Look at every source that is due, and return how many were ordered anew."""
        ordered = 0
        for source in await self._view.sources():
            is_due = source.checked_at + timedelta(seconds=source.refresh_seconds) <= utc_now()
            # Of several workers one takes it.
            if source.refresh_seconds and is_due and await self._view.take(source):
                ordered += await self._refresh(source)
        return ordered

    async def _refresh(self, source: SourceRecord) -> bool:
        known = {name: str(value) for name, value in source.validators.items()}
        try:
            look = await asyncio.to_thread(self._look, source.location, known)
        except (httpx.HTTPError, VouchError, ValueError) as error:
            # The job will say the same where somebody sees it.
            _logger.warning("address not looked at", source=source.name, detail=str(error))
            look = Look(is_unchanged=False, validators={})
        if look.is_unchanged:
            return False
        order = IngestOrder.model_validate(source.request)
        order = order.model_copy(update={"validators": dict(look.validators)})
        await self._jobs.submit(
            JobRecord(
                kind="ingest",
                request=order.model_dump(mode="json"),
                profile=source.profile,
                requester=_REQUESTER,
            )
        )
        return True


def look_at(
    url: str, known: Mapping[str, str], *, transport: httpx.BaseTransport, timeout_seconds: float
) -> Look:
    """Ask an address whether it changed since these validators.

    Raises:
        IngestionError: The address may not be reached from here.
        HTTPError: It does not answer.
    """
    headers: dict[str, str] = {}
    if not urlsplit(url).path.endswith(_LISTS):
        if etag := known.get("etag"):
            headers["if-none-match"] = etag
        if modified := known.get("last-modified"):
            headers["if-modified-since"] = modified
    with (
        httpx.Client(transport=transport, timeout=timeout_seconds, trust_env=False) as client,
        client.stream("GET", url, headers=headers) as response,
    ):
        found = {
            name: response.headers[name]
            for name in ("etag", "last-modified")
            if name in response.headers
        }
        return Look(response.status_code == _NOT_MODIFIED, found)
