"""Which builds are open: follows the published pointer and keeps replaced builds for a while."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from retrieval.catalog import Catalog, OpenedBuild
from retrieval.errors import BuildGoneError, IndexUnavailableError, RetrievalError
from retrieval.manifest import Manifest

_log = logging.getLogger(__name__)


class StampCheck(Protocol):
    """Refuses a build that this process cannot read rightly."""

    def __call__(self, manifest: Manifest) -> None:
        """Raise BuildMismatchError when the build does not match."""
        ...


@dataclass(slots=True)
class _Held:
    opened: OpenedBuild
    users: int = 0
    is_replaced: bool = False
    is_expired: bool = False


class ServingBuilds:
    """The build in force and those that were in force a moment ago.

    An ask may be pinned to the build it began with: after the pointer has moved on, that build
    stays open for ``keep_seconds`` and for as long as a search is running in it.

    Args:
        catalog: Where builds are.
        check: Refuses builds that do not match this process's models.
        keep_seconds: How long a replaced build stays open.
        check_seconds: How often the pointer is looked at.
    """

    def __init__(
        self, catalog: Catalog, check: StampCheck, *, keep_seconds: float, check_seconds: float
    ) -> None:
        self._catalog = catalog
        self._check = check
        self._keep_seconds = keep_seconds
        self._check_seconds = check_seconds
        self._held: dict[str, _Held] = {}
        self._current = ""
        self._next_check = float("-inf")
        self._refreshing = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()
        self._timers: set[asyncio.TimerHandle] = set()
        self._is_closed = False

    @property
    def manifest(self) -> Manifest:
        """The build in force, as last seen.

        Raises:
            IndexUnavailableError: Nothing was opened yet.
        """
        held = self._held.get(self._current)
        if held is None:
            raise IndexUnavailableError("no build is open")
        return held.opened.manifest

    @asynccontextmanager
    async def lease(self, build: str) -> AsyncGenerator[OpenedBuild]:
        """Use a build; it stays open until the block is left.

        Args:
            build: Its name; empty means the one in force.

        Raises:
            BuildGoneError: The pinned build is not open any more.
            IndexUnavailableError: Nothing is published, or the index cannot be opened.
            BuildMismatchError: The published build does not match this process's models.
        """
        held = await self._find(build)
        held.users += 1
        try:
            yield held.opened
        finally:
            held.users -= 1
            if held.is_expired and held.users == 0:
                await self._drop(held)

    async def refresh(self) -> None:
        """Look at the pointer now, and open the build it names when that is another one."""
        async with self._refreshing:
            if self._is_closed:
                raise IndexUnavailableError("the engine is closed")
            self._next_check = asyncio.get_running_loop().time() + self._check_seconds
            build = await self._catalog.pointer()
            if not build:
                raise IndexUnavailableError("no build is published yet; run `vouch ingest`")
            if build != self._current or build not in self._held:
                await self._switch(build)

    async def close(self) -> None:
        """Close every build."""
        self._is_closed = True
        for timer in self._timers:
            timer.cancel()
        held, self._held = list(self._held.values()), {}
        for each in held:
            await each.opened.store.close()
        await asyncio.gather(*self._closing, return_exceptions=True)
        await self._catalog.close()

    async def _find(self, build: str) -> _Held:
        if build in self._held:
            return self._held[build]
        is_due = asyncio.get_running_loop().time() >= self._next_check
        # A pinned build that is not open may be one that another machine has seen first.
        if build or is_due or self._current not in self._held:
            await self.refresh()
        held = self._held.get(build or self._current)
        if held is None:
            raise BuildGoneError(f"build {build} is not open any more; ask again")
        return held

    async def _switch(self, build: str) -> None:
        back = self._held.get(build)
        if back is None:
            opened = await self._catalog.open(build)
            try:
                self._check(opened.manifest)
            except RetrievalError:
                await opened.store.close()
                self._next_check = float("-inf")
                raise
            back = self._held[build] = _Held(opened)
        back.is_replaced = back.is_expired = False
        previous = self._held.get(self._current)
        self._current = build
        _log.info("serving build %s (%d chunks)", build, back.opened.manifest.chunks)
        if previous is not None and previous is not back:
            previous.is_replaced = True
            self._expire_later(previous)

    def _expire_later(self, held: _Held) -> None:
        def expire() -> None:
            self._timers.discard(timer)
            if not held.is_replaced:
                return  # rolled back to in the meantime
            held.is_expired = True
            self._held.pop(held.opened.manifest.build, None)
            if held.users == 0:
                task = asyncio.ensure_future(self._drop(held))
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)

        timer = asyncio.get_running_loop().call_later(self._keep_seconds, expire)
        self._timers.add(timer)

    async def _drop(self, held: _Held) -> None:
        try:
            await held.opened.store.close()
        except RetrievalError:
            _log.exception("build %s could not be closed", held.opened.manifest.build)
