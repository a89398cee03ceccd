"""The tools of a worker: opened for a profile when first needed, given back when idle."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from ingestion.composition import IngestionTools, open_tools
from ingestion.settings import IngestionSettings
from ingestion.worker_settings import WorkerSettings


class Toolbox:
    """Holds the tools of one profile at a time.

    Args:
        settings: Of the process.
        opened: Opens the tools of a profile; a test passes its own.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        opened: Callable[[IngestionSettings], IngestionTools] = open_tools,
    ) -> None:
        self._settings = settings
        self._open = opened
        self._tools: IngestionTools | None = None
        self._profile = ""
        self._users = 0
        self._last_used = 0.0
        self._changing = asyncio.Condition()
        self.parsing = asyncio.Lock()
        """Held while a file is parsed: the parsers' process reads one at a time."""

    @asynccontextmanager
    async def use(self, profile: str) -> AsyncGenerator[IngestionTools]:
        """Lend the tools of a profile.

        Raises:
            RetrievalError: The model or the index cannot be used.
        """
        async with self._changing:
            await self._changing.wait_for(lambda: self._users == 0 or self._profile == profile)
            if self._tools is None or self._profile != profile:
                await self._close()
                settings = self.settings_for(profile)
                self._tools = await asyncio.to_thread(self._open, settings)
                self._profile = profile
            self._users += 1
        try:
            yield self._tools
        finally:
            async with self._changing:
                self._users -= 1
                self._last_used = time.monotonic()
                self._changing.notify_all()

    def settings_for(self, profile: str) -> WorkerSettings:
        """Return the settings with a job's profile."""
        return self._settings.model_copy(update={"profile": profile})

    async def rest(self) -> None:
        """Give the model's memory back when nobody used it for a while."""
        async with self._changing:
            idle = time.monotonic() - self._last_used
            if self._users == 0 and idle > self._settings.worker_idle_seconds:
                await self._close()

    async def close(self) -> None:
        """Release everything."""
        async with self._changing:
            await self._close()

    async def _close(self) -> None:
        if self._tools is not None:
            await self._tools.close()
            self._tools = None
