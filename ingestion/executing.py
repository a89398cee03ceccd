"""What a task does. Doing it twice changes nothing: every step finds what the last one left."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from ingestion.composition import IngestionTools, open_fetcher
from ingestion.document import Parsed
from ingestion.embedding import embed_passages
from ingestion.errors import EmptyRunError, UnreadableError
from ingestion.exclusive import exclusive
from ingestion.reading import SourceReader
from ingestion.report import IngestReport, Progress, ProgressEvent
from ingestion.run import run
from ingestion.sources import Source
from ingestion.staging import Collector, StagedReader, Staging
from ingestion.switching import publish_build, roll_back
from ingestion.toolbox import Toolbox
from ingestion.worker_settings import WorkerSettings
from retrieval.errors import InputTooLongError
from storage.job_orders import GcOrder, IngestOrder, OrderedSource, PublishOrder
from storage.job_queue import Claim
from storage.jobs import TaskRecord

_SHOWN_REASONS = 5


@dataclass(frozen=True, slots=True)
class Planned:
    """The documents of a job, and where they are prepared."""

    names: tuple[str, ...]
    staging: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """What became of one document; a reason means that it is left out."""

    chunks: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of a job."""

    build: str
    report: Mapping[str, JsonValue]


class Executor:
    """Carries out tasks.

    Args:
        settings: Of the process.
        toolbox: The tools.
    """

    def __init__(self, settings: WorkerSettings, toolbox: Toolbox) -> None:
        self._settings = settings
        self._toolbox = toolbox

    async def plan(self, claim: Claim) -> Planned:
        """Read the sources of a job and keep what was read.

        Raises:
            SourceError: A source is not there, or may not be read.
        """
        order = IngestOrder.model_validate(claim.job.request)
        name = f"{claim.job.id}/{claim.attempt}"
        names = await asyncio.to_thread(self._collect, order, self._settings.staging_dir / name)
        return Planned(tuple(names), name)

    async def prepare(self, claim: Claim) -> Prepared:
        """Parse, cut and embed one document; its vectors are kept in the side store.

        Raises:
            RetrievalError: The model or the side store cannot be used.
        """
        staging = Staging(self._settings.staging_dir / claim.job.staging)
        place = claim.task.position - 1
        async with self._toolbox.use(claim.job.profile) as tools:
            try:
                parsed = await self._parse(staging, place, tools)
                return Prepared(await self._embed(parsed, tools))
            except (UnreadableError, InputTooLongError) as error:
                return Prepared(0, str(error))

    async def finish(
        self, claim: Claim, documents: list[TaskRecord], progress: Progress
    ) -> Finished:
        """Do the last step of a job: build and publish, or change what is in force.

        Raises:
            IngestionError: There is nothing to publish, or the build is not whole.
            RetrievalError: The index refuses.
        """
        match claim.job.kind:
            case "ingest":
                return await self._ingest(claim, documents, progress)
            case "publish":
                build = PublishOrder.model_validate(claim.job.request).build
                async with self._toolbox.use(claim.job.profile) as tools:
                    return Finished(await publish_build(tools.catalog, build), {})
            case "rollback":
                async with self._toolbox.use(claim.job.profile) as tools:
                    return Finished(await roll_back(tools.catalog), {})
            case _:
                return await self._clean_up(claim)

    async def _ingest(
        self, claim: Claim, documents: list[TaskRecord], progress: Progress
    ) -> Finished:
        order = IngestOrder.model_validate(claim.job.request)
        _require_chunks(order, documents)
        staging = Staging(self._settings.staging_dir / claim.job.staging)
        failures = {d.position - 1: d.reason for d in documents if d.state == "failed"}
        settings = self._toolbox.settings_for(claim.job.profile)
        async with self._toolbox.use(claim.job.profile) as tools:
            with exclusive(settings.lock_path):
                report = await run(
                    [_source(source) for source in order.sources],
                    tools,
                    settings,
                    progress,
                    removed=order.removed,
                    reader=StagedReader(staging, len(documents), failures),
                )
        return Finished(report.build, _told(report, order))

    async def _clean_up(self, claim: Claim) -> Finished:
        keep = GcOrder.model_validate(claim.job.request).keep
        async with self._toolbox.use(claim.job.profile) as tools:
            with exclusive(self._settings.lock_path):
                removed = await tools.catalog.gc(keep)
            for build in removed:
                tools.records.drop(build)
        return Finished("", {"removed": list(removed)})

    def _collect(self, order: IngestOrder, directory: Path) -> list[str]:
        staging = Staging(directory)
        staging.remove()
        collector = Collector(staging)
        with open_fetcher(self._settings) as fetcher:
            reader = SourceReader(collector, fetcher, self._settings.job_roots)
            for ordered in order.sources:
                source = _source(ordered)
                collector.begin(source, is_recursive=ordered.is_recursive)
                for file in reader.read(source):
                    collector.keep(file)
        return collector.names

    async def _parse(self, staging: Staging, place: int, tools: IngestionTools) -> Parsed:
        file = staging.file(place)
        if file.reason:
            raise UnreadableError(file.reason)
        parsed = staging.parsed(place)
        if parsed is None:
            content = await asyncio.to_thread(staging.content, place)
            async with self._toolbox.parsing:
                parsed = await asyncio.to_thread(tools.parser.parse, content)
            await asyncio.to_thread(staging.keep_parsed, place, parsed)
        return parsed

    async def _embed(self, parsed: Parsed, tools: IngestionTools) -> int:
        chunked = [
            await asyncio.to_thread(tools.chunker.chunk, document) for document in parsed.documents
        ]
        texts = [draft.text_for_embedding for one in chunked for draft in one.drafts]
        await embed_passages(
            texts, embedder=tools.embedder, cache=tools.vectors, workers=1, progress=_unseen
        )
        return len(texts)


def _unseen(event: ProgressEvent) -> None:
    del event


def _source(ordered: OrderedSource) -> Source:
    return Source(
        name=ordered.name,
        kind=ordered.kind,
        location=ordered.location,
        base_url=ordered.base_url.rstrip("/"),
        labels=ordered.labels,
        glob=ordered.glob,
    )


def _require_chunks(order: IngestOrder, documents: list[TaskRecord]) -> None:
    if not order.sources or any(document.chunks for document in documents):
        return
    reasons = [f"{d.name}: {d.reason}" for d in documents if d.reason]
    shown = "; ".join(reasons[:_SHOWN_REASONS])
    more = f"; and {len(reasons) - _SHOWN_REASONS} more" if len(reasons) > _SHOWN_REASONS else ""
    raise EmptyRunError(
        f"no chunk came out of {len(documents)} documents"
        + (f" ({shown}{more})" if reasons else "")
    )


def _told(report: IngestReport, order: IngestOrder) -> dict[str, JsonValue]:
    """Return the report as a job keeps it: its own sources' documents, one by one."""
    names = {source.name for source in order.sources}
    told = report.model_dump(mode="json")
    told["documents"] = [d for d in told["documents"] if d["source"] in names]
    return told
