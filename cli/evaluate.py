"""Running the evaluations and printing their figures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import BaseModel, JsonValue
from rich.table import Table

from agent.settings import AgentSettings
from backend.verdict.thresholds import default_threshold
from cli.console import out, print_json
from cli.ingest import ProgressLines
from cli.shelf import put_card, shelf
from evals.answers import AnswerSummary
from evals.attacks import AttackSummary
from evals.entry import Written, eval_retrieval, eval_sample, named_profiles
from evals.entry_context import eval_compression, eval_packing
from evals.entry_evidence import eval_answers, eval_attacks, eval_citations
from evals.model_agents import ConfiguredModel, open_configured_model
from evals.retrieval import ComparedSummary
from evals.sets import Split
from evals.verdicts import eval_abstention
from ingestion.report import Progress
from ingestion.settings import IngestionSettings
from retrieval.opening import open_profile


def run_sample(reports: Path | None, *, as_json: bool) -> None:
    """Measure the sample corpus.

    Raises:
        RetrievalError: The model cannot be used.
    """
    settings = IngestionSettings()
    with ProgressLines() as lines:
        result, written = asyncio.run(
            eval_sample(
                settings,
                threshold_cosine=_threshold(settings),
                reports=shelf(reports),
                progress=lines.show,
            )
        )
    _show(result.summary(), written, as_json=as_json)


def run_retrieval(
    folder: Path,
    profiles: Sequence[str],
    *,
    k: int,
    split: Split,
    ablation: bool,
    questions: bool,
    reports: Path | None,
    as_json: bool,
) -> None:
    """Measure retrieval on a set, under one or several profiles.

    Raises:
        EvalSetError: The folder is no labelled set.
        BadRequestError: There is no such profile.
    """
    settings = IngestionSettings()
    with ProgressLines() as lines:
        summary, written = asyncio.run(
            eval_retrieval(
                folder,
                settings,
                profiles=named_profiles(settings, profiles),
                k=k,
                split=split,
                with_ladder=ablation,
                with_questions=questions,
                reports=shelf(reports),
                progress=lines.show,
            )
        )
    if isinstance(summary, ComparedSummary) and not as_json:
        _show_beside(summary)
        return
    _show(summary, written, as_json=as_json)


def _show_beside(summary: ComparedSummary) -> None:
    """Print one column a profile."""
    table = Table(box=None)
    table.add_column(f"{summary.set} ({summary.split}, n = {summary.n}, k = {summary.k})")
    columns = [dict(_flat(each.model_dump(mode="json"))) for each in summary.by_profile.values()]
    for name in summary.by_profile:
        table.add_column(name, justify="right")
    for figure, value in columns[0].items():
        if isinstance(value, float):
            table.add_row(figure, *(f"{column[figure]:.3f}" for column in columns))
    out.print(table)
    for name, stages in summary.degraded.items():
        for stage, count in stages.items():
            out.print(f"[yellow]{name}[/yellow]: {stage} in {count} searches")


def run_abstention(
    folder: Path,
    calibration: Path | None,
    negatives_from: Sequence[Path],
    *,
    export: Path | None,
    questions: bool,
    reports: Path | None,
    as_json: bool,
) -> None:
    """Measure what the guard refuses on a set.

    Raises:
        EvalSetError: The folder lacks questions of a class, or the artefact cannot be read.
    """
    settings = IngestionSettings()
    with ProgressLines() as lines:
        summary, written = asyncio.run(
            eval_abstention(
                folder,
                settings,
                calibration=calibration,
                threshold_cosine=_threshold(settings),
                negatives_from=negatives_from,
                export=export,
                with_questions=questions,
                reports=shelf(reports),
                progress=lines.show,
            )
        )
    _show(summary, written, as_json=as_json)


def run_citations(folder: Path, split: Split, reports: Path | None, *, as_json: bool) -> None:
    """Measure the citation check on a set.

    Raises:
        EvalSetError: The set has no corpus, or yields no pairs of a class.
    """
    summary, written = asyncio.run(eval_citations(folder, split=split, reports=shelf(reports)))
    _show(summary, written, as_json=as_json)


def run_answers(folder: Path, reports: Path | None, *, with_model: bool, as_json: bool) -> None:
    """Measure answers against the references of a set.

    Raises:
        EvalSetError: The set has no reference answers.
        SettingsError: The model is wanted and none is configured.
    """
    with ProgressLines() as lines:
        summary, written = asyncio.run(
            _answers(folder, shelf(reports), lines.show, with_model=with_model)
        )
    _show(summary, written, as_json=as_json)


async def _answers(
    folder: Path, reports: Path | None, progress: Progress, *, with_model: bool
) -> tuple[AnswerSummary, Written | None]:
    async with _model(with_model=with_model) as configured:
        return await eval_answers(
            folder,
            IngestionSettings(),
            models=configured.agents if configured else None,
            judge=configured.judge if configured else None,
            reports=reports,
            progress=progress,
        )


def run_compression(folder: Path, split: Split, *, as_json: bool) -> None:
    """Measure whether the sentence that answers survives compression.

    Raises:
        EvalSetError: The set has no corpus, or no question with a sentence that answers it.
    """
    summary = asyncio.run(eval_compression(folder, IngestionSettings(), split=split))
    _show(summary, None, as_json=as_json)


def run_packing(folder: Path, budget_tokens: int, split: Split, *, as_json: bool) -> None:
    """Measure what packing the evidence costs an answer, and what it saves.

    Raises:
        EvalSetError: The folder is no labelled set.
    """
    with ProgressLines() as lines:
        summary = asyncio.run(
            eval_packing(
                folder,
                IngestionSettings(),
                budget_tokens=budget_tokens,
                split=split,
                progress=lines.show,
            )
        )
    _show(summary, None, as_json=as_json)


def run_attacks(folder: Path, reports: Path | None, *, with_model: bool, as_json: bool) -> None:
    """Measure what planted instructions achieve.

    Raises:
        EvalSetError: The folder is not an attack set.
        SettingsError: The model is wanted and none is configured.
    """
    with ProgressLines() as lines:
        summary, written = asyncio.run(
            _attacks(folder, shelf(reports), lines.show, with_model=with_model)
        )
    _show(summary, written, as_json=as_json)


async def _attacks(
    folder: Path, reports: Path | None, progress: Progress, *, with_model: bool
) -> tuple[AttackSummary, Written | None]:
    async with _model(with_model=with_model) as configured:
        return await eval_attacks(
            folder,
            IngestionSettings(),
            models=configured.agents if configured else None,
            reports=reports,
            progress=progress,
        )


@asynccontextmanager
async def _model(*, with_model: bool) -> AsyncGenerator[ConfiguredModel | None]:
    if not with_model:
        yield None
        return
    async with open_configured_model(AgentSettings()) as configured:
        yield configured


def _threshold(settings: IngestionSettings) -> float:
    model = settings.embedding_model or open_profile(settings).ingestion.embedder.model
    return default_threshold(model).cosine


def _show(summary: BaseModel, written: Written | None, *, as_json: bool) -> None:
    body: dict[str, JsonValue] = summary.model_dump(mode="json")
    put_card(written, body)
    if as_json:
        print_json(body)
        return
    table = Table(box=None, show_header=False)
    for name, value in _flat(body):
        table.add_row(name, f"{value:.3f}" if isinstance(value, float) else str(value))
    out.print(table)
    if written:
        out.print(f"report: {written.markdown}, {written.html}")


def _flat(body: Mapping[str, JsonValue], prefix: str = "") -> list[tuple[str, JsonValue]]:
    rows: list[tuple[str, JsonValue]] = []
    for name, value in body.items():
        if isinstance(value, dict):
            rows += _flat(value, f"{prefix}{name}.")
        else:
            rows.append((f"{prefix}{name}", value))
    return rows
