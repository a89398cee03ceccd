"""Writing a build: points and records, verification, publication."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.gathering import Gathered
from ingestion.part_weights import PartWeights
from ingestion.passage_vectors import PassageVectors
from ingestion.records import BuildRecords
from ingestion.report import Progress, ProgressEvent
from ingestion.verify import Expectation, verify
from retrieval.catalog import BuildWriter, Catalog
from retrieval.chunk import Chunk, Point
from retrieval.late import LateEmbedder
from retrieval.manifest import Manifest, Stamp
from retrieval.sparse import SparseEncoder

_WRITE_BATCH = 256


@dataclass(frozen=True, slots=True)
class Publisher:
    """Makes a build out of chunks and puts it in force.

    Attributes:
        keep_builds: Complete builds kept for rollback, older ones are removed.
    """

    catalog: Catalog
    records: BuildRecords
    sparse: SparseEncoder
    late: LateEmbedder | None
    progress: Progress
    keep_builds: int

    async def publish(
        self,
        gathered: Gathered,
        points: Sequence[tuple[Chunk, PassageVectors]],
        *,
        duplicates: int,
        stamp: Stamp,
        profile: str,
        expect: Expectation | None,
    ) -> Manifest:
        """Write, verify and publish; whatever fails leaves the build in force as it was.

        Raises:
            VerificationError: The build does not hold what was written.
            RetrievalError: The index refuses.
        """
        writer = await self.catalog.create(stamp, profile)
        try:
            await self._write(writer, points)
            await asyncio.to_thread(self._keep_records, writer.build, gathered)
            manifest = await writer.finish(documents=len(gathered.documents), duplicates=duplicates)
            await self._verify(manifest, expect)
            await writer.publish()
        except BaseException:
            self.records.drop(writer.build)
            await writer.abort()
            raise
        for build in await self.catalog.gc(self.keep_builds):
            self.records.drop(build)
        return manifest

    async def _write(
        self, writer: BuildWriter, points: Sequence[tuple[Chunk, PassageVectors]]
    ) -> None:
        started = time.monotonic()
        weights = PartWeights.fitted(self.sparse, [chunk for chunk, _ in points])
        for at in range(0, len(points), _WRITE_BATCH):
            batch = points[at : at + _WRITE_BATCH]
            await writer.write(await asyncio.to_thread(self._points, batch, weights))
            done = at + len(batch)
            rate = done / max(time.monotonic() - started, 1e-6)
            left = (len(points) - done) / rate
            self.progress(ProgressEvent("writing", done, len(points), rate, left))

    def _points(
        self, batch: Sequence[tuple[Chunk, PassageVectors]], weights: PartWeights
    ) -> list[Point]:
        texts = [chunk.text_for_embedding for chunk, _ in batch]
        late = self.late.embed_passages(texts) if self.late else [None] * len(texts)
        return [
            Point(chunk, own.dense, weights.embed(chunk), matrix, own.parts)
            for (chunk, own), matrix in zip(batch, late, strict=True)
        ]

    async def _verify(self, manifest: Manifest, expect: Expectation | None) -> None:
        self.progress(ProgressEvent("verifying", 0, manifest.chunks))
        opened = await self.catalog.open(manifest.build)
        try:
            verification = await verify(opened.store, manifest, expect=expect)
        finally:
            await opened.store.close()
        verification.require()

    def _keep_records(self, build: str, gathered: Gathered) -> None:
        for source, records in gathered.by_source().items():
            self.records.write(build, source, records)
