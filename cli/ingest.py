"""``vouch ingest``: bring the index up to date, with progress and a report at the end."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from cli.console import err, out, print_json
from cli.settings import UpSettings
from cli.shipped import install_shipped
from ingestion.errors import IngestionError, SourceError
from ingestion.report import IngestReport, ProgressEvent
from ingestion.run import ingest
from ingestion.settings import IngestionSettings
from ingestion.sources import Source, sample_sources, source_from
from ingestion.summaries import SummaryReport
from ingestion.verify import Expectation
from ingestion.watching import changes, fingerprint
from retrieval.errors import BuildMismatchError
from retrieval.opening import open_catalog, require_readable
from service.lifeline import follow_lifeline

_SHOWN_DOCUMENTS = 20
_WATCH_SECONDS = 1.0


def run_ingest(
    arguments: Sequence[str],
    *,
    name: str,
    labels: Sequence[str],
    glob: str,
    base_url: str,
    removed: Sequence[str],
    sample: bool,
    if_empty: bool,
    expect: str,
    as_json: bool,
    watch: bool = False,
) -> None:
    """Ingest sources and print what came of each document.

    Raises:
        IngestionError: Nothing came out, a source is not there, or the build is not whole.
        RetrievalError: The model or the index cannot be used.
    """
    settings = IngestionSettings()
    follow_lifeline(enabled=settings.lifeline)
    if if_empty and asyncio.run(has_usable_build(settings)):
        return
    sources = list(sample_sources()) if sample else []
    sources += [
        source_from(argument, name=name, base_url=base_url, labels=tuple(labels), glob=glob)
        for argument in arguments
    ]
    expectation = Expectation.parse(expect) if expect else None
    report = asyncio.run(_ingest(sources, settings, removed, expectation))
    if if_empty and asyncio.run(_install_shipped(settings)):
        err.print("the calibration made for the sample corpus is in force")
    _print(report, as_json=as_json)
    if watch:
        asyncio.run(_watch(sources, settings, as_json=as_json))


async def _watch(sources: Sequence[Source], settings: IngestionSettings, *, as_json: bool) -> None:
    """Ingest again whenever a file changed, until interrupted; a failed run only says so."""
    err.print("watching; Ctrl-C ends it")
    async for _ in changes(lambda: fingerprint(sources), lambda: asyncio.sleep(_WATCH_SECONDS)):
        try:
            _print(await _ingest(sources, settings, (), None), as_json=as_json)
        except IngestionError as error:
            err.print(f"[yellow]not read[/yellow]   {escape(str(error))}")


def _print(report: IngestReport, *, as_json: bool) -> None:
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        print_report(report)


async def has_usable_build(settings: IngestionSettings) -> bool:
    """Return whether the build in force, if any, is to be left alone.

    A build of the sample corpus alone that this version cannot serve any more is made anew; one
    that holds anybody's own documents is theirs to decide about.
    """
    catalog = open_catalog(settings)
    try:
        manifest = await catalog.current()
    finally:
        await catalog.close()
    if manifest is None:
        return False
    if set(manifest.sources) - {source.name for source in sample_sources()}:
        return True
    try:
        await asyncio.to_thread(require_readable, manifest, settings)
    except BuildMismatchError as error:
        err.print(f"[yellow]the sample index is made anew:[/yellow] {escape(str(error))}")
        return False
    return True


async def _install_shipped(settings: IngestionSettings) -> bool:
    catalog = open_catalog(settings)
    try:
        manifest = await catalog.current()
    finally:
        await catalog.close()
    return manifest is not None and await install_shipped(UpSettings(), manifest)


async def _ingest(
    sources: Sequence[Source],
    settings: IngestionSettings,
    removed: Sequence[str],
    expect: Expectation | None,
) -> IngestReport:
    if removed:
        await _require_held(removed, settings)
    with ProgressLines() as lines:
        return await ingest(sources, settings, lines.show, removed=removed, expect=expect)


async def _require_held(names: Sequence[str], settings: IngestionSettings) -> None:
    """Fail when the build in force has no source of one of these names: it is a typing mistake."""
    catalog = open_catalog(settings)
    try:
        manifest = await catalog.current()
    finally:
        await catalog.close()
    held = sorted(manifest.sources) if manifest else []
    for name in names:
        if name not in held:
            known = ", ".join(held) or "none at all"
            raise SourceError(f"{name}: the index has no source of this name (it has {known})")


class ProgressLines:
    """One bar a stage on a terminal; without one, a line now and then."""

    def __init__(self) -> None:
        self._bars = Progress(
            TextColumn("{task.description:<10}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            console=err,
            disable=not sys.stderr.isatty(),
        )
        self._tasks: dict[str, TaskID] = {}
        self._tenths: dict[str, int] = {}

    def __enter__(self) -> ProgressLines:
        """Begin to draw."""
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave what was drawn."""
        self._bars.stop()

    def show(self, event: ProgressEvent) -> None:
        """Show where the run is."""
        if self._bars.disable:
            self._say(event)
            return
        if event.stage not in self._tasks:
            self._tasks[event.stage] = self._bars.add_task(event.stage, rate="")
        left = "" if event.seconds_left is None else f", {event.seconds_left:.0f} s left"
        rate = f"{event.per_second:.1f}/s{left}" if event.per_second else ""
        self._bars.update(
            self._tasks[event.stage], completed=event.done, total=event.total or None, rate=rate
        )

    def _say(self, event: ProgressEvent) -> None:
        tenth = 10 * event.done // event.total if event.total else 0
        if self._tenths.get(event.stage) != tenth:
            self._tenths[event.stage] = tenth
            err.print(f"{event.stage} {event.done}/{event.total or '?'}", highlight=False)


def _cost(summaries: SummaryReport) -> str:
    tokens = summaries.prompt_tokens + summaries.completion_tokens
    return (
        f"{summaries.made} written by {escape(summaries.model)} for {tokens} tokens, "
        f"{summaries.cached} known, {summaries.failed} failed, {summaries.left_out} over the limit"
    )


def print_report(report: IngestReport) -> None:
    """Print the totals, then every document that is not in the index with its reason."""
    states = Counter(document.state for document in report.documents)
    counted = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in states.items())
    out.print(f"[bold]build {report.build}[/bold] is in force")
    out.print(f"documents  {len(report.documents)} ({counted})")
    out.print(f"chunks     {report.chunks}, of these {report.duplicates} exact duplicates")
    out.print(
        f"points     {report.points_written} written and verified, {report.embedded} embedded"
    )
    if report.summaries:
        out.print(f"summaries  {_cost(report.summaries)}")
    out.print(f"seconds    {report.seconds:.1f}")
    for place in report.vanished[:_SHOWN_DOCUMENTS]:
        out.print(f"[yellow]gone[/yellow]       {escape(place)}")
    for document in report.unreadable:
        out.print(
            f"[yellow]not read[/yellow]   "
            f"{escape(f'{document.source}/{document.document_id}: {document.reason}')}"
        )
