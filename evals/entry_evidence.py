"""What the command line calls to evaluate citations, attacks and answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from agent.contract import Agent
from agent.extractive import ExtractiveAgent
from evals.answer_judge import Judge
from evals.answer_report import answer_report
from evals.answers import AnswerSummary, evaluate_answers, measure_two_hop
from evals.answers import summarise as summarise_answers
from evals.attack_report import attack_report
from evals.attack_set import load_attacks
from evals.attacks import AttackSummary, attempt_all, summarise
from evals.citation_report import citation_report
from evals.citations import CitationSummary, measure
from evals.entry import Written
from evals.errors import EvalSetError
from evals.report import Report, write_report
from evals.sample import SET_FOLDER, open_sample
from evals.scratch import Scratch, open_scratch, silent
from evals.sets import EvalSet, Split, load_set
from evals.workbench import Workbench, open_workbench
from ingestion.report import Progress
from ingestion.settings import IngestionSettings
from retrieval.profiles import SearchProfile, packaged_search
from retrieval.query_embedding import QueryEmbedder


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


async def eval_answers(
    folder: Path,
    settings: IngestionSettings,
    *,
    models: Mapping[str, Agent] | None = None,
    judge: Judge | None = None,
    reports: Path | None = None,
    progress: Progress = silent,
) -> tuple[AnswerSummary, Written | None]:
    """Measure the answers to a set's answerable questions.

    Args:
        folder: A set with a corpus, or the sample set.
        settings: Where the data is and how documents are cut.
        models: Agents beside the extractive one, by name; closed by their owner.
        judge: A model's opinion of correctness; None goes without.
        reports: Where reports go; None writes none.
        progress: Called while passages are embedded.

    Raises:
        EvalSetError: The folder is no labelled set.
    """
    eval_set = load_set(folder)
    questions = (*eval_set.queries, *eval_set.short, *eval_set.two_hop)
    agents: dict[str, Agent] = {"extractive": ExtractiveAgent(), **(models or {})}
    async with open_workbench(settings) as bench, open_corpus(eval_set, bench, progress) as scratch:
        embedder = QueryEmbedder(bench.embedder)
        results = await evaluate_answers(scratch, questions, agents, embedder, judge=judge)
        two_hop = await measure_two_hop(scratch, eval_set.two_hop)
    summary = summarise_answers(eval_set.name, results, two_hop)
    return summary, await _write(answer_report(summary), reports)


@asynccontextmanager
async def open_corpus(
    eval_set: EvalSet, bench: Workbench, progress: Progress
) -> AsyncGenerator[Scratch]:
    """Open the corpus of a set, indexed; the sample corpus for the sample set.

    Raises:
        EvalSetError: The set has no corpus.
    """
    if eval_set.sections:
        profiles = {"default": packaged_search()}
        async with open_scratch(eval_set, bench, profiles=profiles, progress=progress) as scratch:
            yield scratch
    elif eval_set.name == SET_FOLDER.name:
        async with open_sample(bench, progress=progress) as sample:
            yield sample.scratch
    else:
        message = f"{eval_set.folder} holds no corpus.jsonl to index"
        raise EvalSetError(message)


async def _write(report: Report, reports: Path | None) -> Written | None:
    if reports is None:
        return None
    return Written(*await asyncio.to_thread(write_report, report, reports))
