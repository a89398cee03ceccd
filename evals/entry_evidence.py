"""What the command line calls to evaluate evidence: citations and attacks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from agent.contract import Agent
from evals.attack_report import attack_report
from evals.attack_set import load_attacks
from evals.attacks import AttackSummary, attempt_all, summarise
from evals.citation_report import citation_report
from evals.citations import CitationSummary, measure
from evals.entry import Written
from evals.report import Report, write_report
from evals.scratch import silent
from evals.sets import Split
from evals.workbench import open_workbench
from ingestion.report import Progress
from ingestion.settings import IngestionSettings
from retrieval.profiles import SearchProfile


async def eval_citations(
    folder: Path, *, split: Split = "all", reports: Path | None = None
) -> tuple[CitationSummary, Written | None]:
    """Measure how well the citation check tells true sentences from altered ones.

    Args:
        folder: A set with a corpus, or the sample set.
        split: Half of the pairs the figures are of; the check was fitted on development halves.
        reports: Where reports go; None writes none.

    Raises:
        EvalSetError: The set has no corpus, or yields no pairs of a class.
    """
    result = await asyncio.to_thread(measure, folder, split)
    return result.summary(), await _write(citation_report([result]), reports)


async def eval_attacks(
    folder: Path,
    settings: IngestionSettings,
    *,
    models: Mapping[str, Agent] | None = None,
    profile: SearchProfile | None = None,
    reports: Path | None = None,
    progress: Progress = silent,
) -> tuple[AttackSummary, Written | None]:
    """Measure what planted instructions achieve.

    Args:
        folder: Holds ``composed_docs.jsonl`` and ``benign_controls.jsonl``.
        settings: Where the data is and how documents are cut.
        models: Further agents by name, a real model for instance; closed by their owner.
        profile: How to search; None takes the default.
        reports: Where reports go; None writes none.
        progress: Called while passages are embedded.

    Raises:
        EvalSetError: The folder is not an attack set.
    """
    attacks = load_attacks(folder)
    async with open_workbench(settings) as bench:
        attempts = await attempt_all(
            attacks, bench, profile=profile, models=models, progress=progress
        )
    summary = summarise(attacks, attempts)
    return summary, await _write(attack_report(summary, folder.name), reports)


async def _write(report: Report, reports: Path | None) -> Written | None:
    if reports is None:
        return None
    return Written(*await asyncio.to_thread(write_report, report, reports))
