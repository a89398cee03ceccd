"""Builds: how an index comes to be, is published by a pointer, and is rolled back.

A build is written once and never changed. It exists for readers only when its manifest does, which
is written last; it is in force when the pointer names it, which is one atomic step. A run that dies
on the way changes nothing that anybody can see, and its leftovers are removed by ``gc``.

Two catalogues implement the protocol here: ``builds`` in a directory, ``builds_qdrant`` on a
server or cluster.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from retrieval.chunk import Point
from retrieval.errors import BuildMismatchError, IndexUnavailableError
from retrieval.manifest import Manifest, Stamp
from retrieval.sketch import make_sketch
from retrieval.statistics import TermCounter, TermStatistics
from retrieval.store import Filter, Store


@dataclass(frozen=True, slots=True)
class OpenedBuild:
    """A complete build, open for reading."""

    manifest: Manifest
    statistics: TermStatistics
    store: Store


class Catalog(Protocol):
    """The builds of one collection."""

    async def create(self, stamp: Stamp, profile: str) -> BuildWriter:
        """Begin a new build, which nobody sees until it is finished and published."""
        ...

    async def pointer(self) -> str:
        """Return the name of the build in force, empty when there is none; cheap."""
        ...

    async def current(self) -> Manifest | None:
        """Return the build in force."""
        ...

    async def list(self) -> tuple[Manifest, ...]:
        """Return every complete build, newest first."""
        ...

    async def open(self, build: str) -> OpenedBuild:
        """Open a complete build for reading.

        Raises:
            IndexUnavailableError: There is no such build, or another process owns it.
        """
        ...

    async def publish(self, build: str) -> None:
        """Put a complete build in force, in one atomic step.

        Raises:
            IndexUnavailableError: There is no such build.
        """
        ...

    async def rollback(self) -> Manifest:
        """Put the newest complete build older than the one in force back in force.

        Raises:
            IndexUnavailableError: There is none.
        """
        ...

    async def gc(self, keep: int) -> tuple[str, ...]:
        """Remove leftovers, and complete builds beyond the newest ``keep``; return their names.

        The build in force is never removed, nor one that a process has open.
        """
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


class BuildHome(Protocol):
    """Where a writer puts a build's own account of itself."""

    async def keep(self, manifest: Manifest, statistics: TermStatistics) -> None:
        """Make the build complete: statistics first, the manifest last."""
        ...

    async def publish(self, build: str) -> None:
        """Point at the build, in one atomic step."""
        ...

    async def discard(self, build: str) -> None:
        """Remove a build that was never published."""
        ...


class BuildWriter:
    """One build on its way.

    Args:
        build: Its name.
        store: Its empty index.
        home: Where its manifest goes.
        stamp: What it is made with.
        profile: Name of the ingestion profile.
    """

    def __init__(
        self, build: str, store: Store, home: BuildHome, stamp: Stamp, profile: str
    ) -> None:
        self.build = build
        self._store = store
        self._home = home
        self._stamp = stamp
        self._profile = profile
        self._terms = TermCounter()
        self._sources: Counter[str] = Counter()
        self._chunk_ids: list[str] = []
        self._manifest: Manifest | None = None
        self._is_published = False

    async def write(self, points: Sequence[Point]) -> None:
        """Write points durably.

        Raises:
            VectorError: A vector is not fit to be searched; names the chunk.
            IndexUnavailableError: The engine refuses.
        """
        await self._store.write(points)
        self._terms.add(points)
        for point in points:
            self._sources.update({occurrence.source for occurrence in point.chunk.occurrences})
            self._chunk_ids.append(point.chunk.chunk_id)

    async def finish(self, *, documents: int, duplicates: int) -> Manifest:
        """Verify the count and make the build complete; it can then be published.

        Args:
            documents: Documents the chunks came from.
            duplicates: Repeated texts that were stored once.

        Raises:
            IndexUnavailableError: Nothing was written, or the index holds another number of
                points than were written.
        """
        written = len(self._chunk_ids)
        held = await self._store.count(where=Filter(all_labels=True))
        if written == 0:
            raise IndexUnavailableError("the build is empty: no chunk was written")
        if held != written:
            raise IndexUnavailableError(
                f"the build is not complete: {written} chunks were written, the index holds {held}"
            )
        manifest = Manifest(
            build=self.build,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            profile=self._profile,
            stamp=self._stamp,
            chunks=written,
            documents=documents,
            duplicates=duplicates,
            sources=dict(sorted(self._sources.items())),
            content_digest=content_digest(self._chunk_ids),
            sketch=make_sketch(self._chunk_ids),
        )
        await self._store.close()
        await self._home.keep(manifest, self._terms.result())
        self._manifest = manifest
        return manifest

    async def publish(self) -> None:
        """Put the finished build in force.

        Raises:
            IndexUnavailableError: It is not finished.
        """
        if self._manifest is None:
            raise IndexUnavailableError("a build is published only after it was finished")
        await self._home.publish(self.build)
        self._is_published = True

    async def abort(self) -> None:
        """Remove the build unless it was published; the one in force stays."""
        if self._manifest is None:
            await self._store.close()
        if not self._is_published:
            await self._home.discard(self.build)


def new_build_name(now: datetime) -> str:
    """Return a name that sorts by time: ``YYYYMMDDTHHMMSS-ffffff``, microseconds last."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%S-%f}"


def content_digest(chunk_ids: Sequence[str]) -> str:
    """Return a digest over sorted chunk ids: equal content, equal digest."""
    digest = hashlib.sha256()
    for chunk_id in sorted(chunk_ids):
        digest.update(chunk_id.encode())
        digest.update(b"\n")
    return digest.hexdigest()


def check_stamp(manifest: Manifest, expected: Stamp, *, fields: Sequence[str]) -> None:
    """Refuse a build that was made with something else than the reader uses.

    Args:
        manifest: Of the build.
        expected: What the reader has; only ``fields`` of it are compared.
        fields: Names of the stamp's fields that the reader depends on.

    Raises:
        BuildMismatchError: Names each difference and says what to do.
    """
    differences = [
        f"{name} is {getattr(manifest.stamp, name)!r} in the build and "
        f"{getattr(expected, name)!r} here"
        for name in fields
        if getattr(manifest.stamp, name) != getattr(expected, name)
    ]
    if differences:
        raise BuildMismatchError(
            f"build {manifest.build} cannot be served: {'; '.join(differences)}. Either run "
            "`vouch ingest` again with the present settings, or set them back to the build's "
            "(VOUCH_EMBEDDING_MODEL, VOUCH_PROFILE)"
        )
