"""Keeps one engine open and on the published build, whatever happens to the index.

The server starts and stays up without an index: calls are then refused with the typed reason, and
the keeper goes on trying, so that nobody has to restart anything once a build is there.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from mcp_server.engine import Engine, EngineOpener
from retrieval.errors import IndexUnavailableError, RetrievalError
from retrieval.manifest import Manifest
from service.health import Check
from service.logs import get_logger

_log = get_logger(__name__)

_SHORTEST_POLL_SECONDS = 0.05


class IndexKeeper:
    """Owns the engine of this process.

    Args:
        opener: Opens the engine; raises ``RetrievalError`` while that is impossible.
        poll_seconds: Time between two looks at the published build.

    Attributes:
        looked: Set after the first look, whatever it found.
    """

    def __init__(self, opener: EngineOpener, *, poll_seconds: float) -> None:
        self._opener = opener
        self._poll_seconds = max(poll_seconds, _SHORTEST_POLL_SECONDS)
        self._engine: Engine | None = None
        self._trouble: RetrievalError | None = None
        self._manifest: Manifest | None = None
        self.looked = asyncio.Event()

    def engine(self) -> Engine:
        """Return the open engine.

        Raises:
            RetrievalError: Why there is none.
        """
        if self._engine is None:
            raise self._trouble or IndexUnavailableError("the index is still being opened")
        return self._engine

    def health(self) -> Check:
        """Return the state of the index: down without a build, degraded on an old one."""
        if self._manifest is None:
            return Check(status="down", detail=str(self._trouble or "the index is being opened"))
        if self._trouble is not None:
            return Check(status="degraded", detail=str(self._trouble))
        return Check(status="ok")

    @property
    def manifest(self) -> Manifest | None:
        """The build in force; None while there is none."""
        return self._manifest

    @property
    def build(self) -> str:
        """Name of the build in force; empty while there is none."""
        return "" if self._manifest is None else self._manifest.build

    def age_seconds(self) -> float:
        """Return the time since the build in force was made; zero without one."""
        if self._manifest is None:
            return 0.0
        made = datetime.fromisoformat(self._manifest.created_at)
        return (datetime.now(UTC) - made).total_seconds()

    async def poll(self) -> None:
        """Open the engine, or follow the published build, once."""
        try:
            if self._engine is None:
                self._engine = await self._opener()
            await self._engine.refresh()
            manifest = self._engine.info()
        except RetrievalError as error:
            self._note_trouble(error)
        except Exception:  # noqa: BLE001 - the edge of a background task, which must go on
            _log.exception("index_failed")
            self._note_trouble(IndexUnavailableError("the index failed; the log says why"))
        else:
            self._note_build(manifest)
        self.looked.set()

    async def run(self) -> None:
        """Poll until cancelled, then close the engine."""
        try:
            while True:
                await self.poll()
                await asyncio.sleep(self._poll_seconds)
        finally:
            if self._engine is not None:
                await self._engine.close()

    def _note_trouble(self, error: RetrievalError) -> None:
        if str(error) != str(self._trouble):
            _log.error("index_trouble", code=error.code, reason=str(error))
        self._trouble = error

    def _note_build(self, manifest: Manifest) -> None:
        self._trouble = None
        if manifest.build != self.build:
            _log.info("index_build_in_force", build=manifest.build, before=self.build)
        self._manifest = manifest
