"""Builds in a directory, one embedded index each, published by a pointer file.

``<data_dir>/collections/<collection>/current`` names the build in force;
``builds/<build>/`` holds ``points/``, ``terms.npz`` and, once complete, ``manifest.json``.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from retrieval.catalog import BuildWriter, OpenedBuild, new_build_name
from retrieval.errors import BadRequestError, IndexUnavailableError
from retrieval.manifest import Manifest, Stamp
from retrieval.statistics import TermStatistics
from retrieval.store_edge import EdgeStore

_MANIFEST = "manifest.json"
_TERMS = "terms.npz"
_POINTS = "points"
_LOCK = "lock"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class BuildCatalog:
    """The builds of one collection on this machine's disk.

    Args:
        data_dir: ``VOUCH_DATA_DIR``.
        collection: Name of the collection, a plain file name.

    Raises:
        BadRequestError: The collection's name is no plain file name.
    """

    def __init__(self, data_dir: Path, collection: str) -> None:
        if not _NAME.fullmatch(collection):
            raise BadRequestError(f"{collection!r} cannot name a collection")
        self._root = data_dir / "collections" / collection
        self._builds = self._root / "builds"
        self._pointer = self._root / "current"
        self._unlock: dict[str, Callable[[], None]] = {}

    async def create(self, stamp: Stamp, profile: str) -> BuildWriter:
        """Begin a new build, which nobody sees until it is finished and published."""
        build = new_build_name(datetime.now(UTC))
        directory = self._builds / build
        try:
            directory.mkdir(parents=True)
            self._unlock[build] = _hold(directory / _LOCK)
        except OSError as error:
            raise IndexUnavailableError(
                f"cannot write a build in {self._builds}: {error}"
            ) from error
        store = EdgeStore.create(
            directory / _POINTS,
            stamp.dimension,
            late_dimension=stamp.late_dimension,
            has_parts=bool(stamp.parts),
        )
        return BuildWriter(build, store, self, stamp, profile)

    async def pointer(self) -> str:
        """Return the name of the build in force, empty when there is none."""
        try:
            return self._pointer.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return ""
        except (OSError, ValueError) as error:
            raise IndexUnavailableError(f"cannot read {self._pointer}: {error}") from error

    async def current(self) -> Manifest | None:
        """Return the build in force."""
        build = await self.pointer()
        return self._manifest(build) if build else None

    async def list(self) -> tuple[Manifest, ...]:
        """Return every complete build, newest first."""
        return tuple(self._manifest(build) for build in self._complete())

    async def open(self, build: str) -> OpenedBuild:
        """Open a complete build for reading; one process at a time can."""
        manifest = self._manifest(build)
        directory = self._builds / build
        try:
            statistics = TermStatistics.from_bytes((directory / _TERMS).read_bytes())
            unlock = _hold(directory / _LOCK)
        except (OSError, ValueError) as error:
            raise IndexUnavailableError(f"build {build} is damaged: {error}") from error
        try:
            store = EdgeStore.open(
                directory / _POINTS,
                manifest.stamp.dimension,
                statistics.accesses,
                released=unlock,
            )
        except IndexUnavailableError:
            unlock()
            raise
        return OpenedBuild(manifest, statistics, store)

    async def rollback(self) -> Manifest:
        """Put the newest complete build older than the one in force back in force."""
        current = await self.pointer()
        older = next((build for build in self._complete() if build < current), None)
        if older is None:
            raise IndexUnavailableError("there is no older build to go back to")
        await self.publish(older)
        return self._manifest(older)

    async def gc(self, keep: int) -> tuple[str, ...]:
        """Remove leftovers, and complete builds beyond the newest ``keep``."""
        current = await self.pointer()
        kept = {current, *self._complete()[:keep]}
        return tuple(
            directory.name
            for directory in self._directories()
            if directory.name not in kept and _remove_unless_held(directory)
        )

    async def close(self) -> None:
        """Nothing is held open here."""

    async def keep(self, manifest: Manifest, statistics: TermStatistics) -> None:
        """Make the build complete: statistics first, the manifest last."""
        directory = self._builds / manifest.build
        _write_durably(directory / _TERMS, statistics.to_bytes())
        _write_durably(directory / _MANIFEST, manifest.model_dump_json(indent=2).encode())
        self._unlock.pop(manifest.build, _nothing)()

    async def publish(self, build: str) -> None:
        """Point at the build, in one atomic step."""
        self._manifest(build)
        _write_durably(self._pointer, f"{build}\n".encode())

    async def discard(self, build: str) -> None:
        """Remove a build that was never published."""
        (self._builds / build / _MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(self._builds / build, ignore_errors=True)
        self._unlock.pop(build, _nothing)()

    def _directories(self) -> list[Path]:
        if not self._builds.is_dir():
            return []
        return sorted((d for d in self._builds.iterdir() if d.is_dir()), reverse=True)

    def _complete(self) -> list[str]:
        return [d.name for d in self._directories() if (d / _MANIFEST).is_file()]

    def _manifest(self, build: str) -> Manifest:
        path = self._builds / build / _MANIFEST
        if not _NAME.fullmatch(build) or not path.is_file():
            raise IndexUnavailableError(
                f"there is no complete build {build!r} in {self._root}; run `vouch ingest`"
            )
        try:
            return Manifest.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            raise IndexUnavailableError(f"the manifest {path} is damaged: {error}") from error


def _write_durably(path: Path, content: bytes) -> None:
    """Replace a file in one step that survives a power cut: all of it or none of it."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise IndexUnavailableError(f"cannot write {path}: {error}") from error


def _hold(lock: Path) -> Callable[[], None]:
    """Say that a build is in use, until the returned function is called or the process ends."""
    handle = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(handle, fcntl.LOCK_SH)

    def release() -> None:
        os.close(handle)

    return release


def _remove_unless_held(directory: Path) -> bool:
    try:
        handle = os.open(directory / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The manifest goes first: a removal that dies half-way leaves a leftover, not a build.
        (directory / _MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(directory, ignore_errors=True)
    except OSError:
        return False
    finally:
        os.close(handle)
    return not directory.exists()


def _nothing() -> None:
    return None
