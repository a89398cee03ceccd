"""``vouch eval`` without a set: the sample corpus, from empty folder to figures.

The corpus is what ``vouch up`` serves on its first run; it is indexed into a scratch build of its
own, by the same pipeline. A question counts as found when a passage among the first four holds the
labelled quote, whatever section it stands in.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
from pydantic import BaseModel, ConfigDict

from evals.abstention import AbstentionResult, evaluate_fixed
from evals.bootstrap import Interval, interval
from evals.observations import TOP_K, Observation, observe_set
from evals.operating import refused_share
from evals.quotes import holds
from evals.scratch import Scratch, open_engine_on, silent
from evals.sets import EvalSet, Question, load_set
from evals.workbench import Workbench
from ingestion.records import BuildRecords
from ingestion.report import Progress
from ingestion.run import run
from ingestion.sources import sample_sources
from retrieval.builds import BuildCatalog
from retrieval.profiles import SearchProfile, packaged_search

SET_FOLDER = Path(__file__).parent / "sets" / "python_reference"
DEFAULT = "default"
DENSE_ALONE = "dense alone"
_DENSE_ALONE = SearchProfile(dense_weight=1.0, sparse_weight=0.0)
_COLLECTION = "sample"


class SampleSummary(BaseModel):
    """The object that ``--json`` prints; shares are in [0, 1]."""

    model_config = ConfigDict(frozen=True)

    set: str
    n: int
    hit_at_4: float
    hit_at_4_dense_alone: float
    exact_tokens_n: int
    exact_tokens_hit_at_4: float
    exact_tokens_hit_at_4_dense_alone: float
    threshold: float
    refusal_recall: float
    over_refusal: float
    by_band: dict[str, float]
    unlabelled: int


@dataclass(frozen=True, slots=True)
class Sample:
    """The sample corpus, indexed, with its questions.

    Attributes:
        unlabelled: Questions whose quote this Python's text lacks; they are left out.
    """

    eval_set: EvalSet
    scratch: Scratch
    unlabelled: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """One question and whether its quote was among the first passages."""

    question: Question
    hit: bool


@asynccontextmanager
async def open_sample(bench: Workbench, *, progress: Progress = silent) -> AsyncGenerator[Sample]:
    """Index the sample corpus into its own place and open it.

    Args:
        bench: Models, and the cache.
        progress: Called while passages are embedded.
    """
    catalog = BuildCatalog(bench.directory, _COLLECTION)
    records = BuildRecords(bench.directory / "records")
    tools = replace(bench.tools, catalog=catalog, records=records)
    await run(sample_sources(), tools, bench.settings, progress)
    profiles = {DEFAULT: packaged_search(), DENSE_ALONE: _DENSE_ALONE}
    async with open_engine_on(catalog, bench, profiles) as scratch:
        eval_set = load_set(SET_FOLDER)
        yield Sample(eval_set, scratch, tuple(_unlabelled(eval_set)))


async def find(
    scratch: Scratch, questions: Sequence[Question], profile: str, k: int = TOP_K
) -> tuple[Found, ...]:
    """Search for each question and look for its quote among the first k passages."""
    found: list[Found] = []
    for question in questions:
        outcome = await scratch.search(question.question, top_k=k, profile=profile)
        hit = any(answers(one.chunk.text, question) for one in outcome.hits[:k])
        found.append(Found(question, hit))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class SampleResult:
    """What was measured on the sample corpus.

    Attributes:
        found: Profile name to the natural questions, the default first.
        exact: Profile name to the exact-token questions.
        fixed: The verdicts of the fixed threshold.
    """

    eval_set: EvalSet
    found: dict[str, tuple[Found, ...]]
    exact: dict[str, tuple[Found, ...]]
    observations: tuple[Observation, ...]
    fixed: AbstentionResult
    unlabelled: tuple[Question, ...]

    def summary(self) -> SampleSummary:
        """Return the figures."""
        verdict = self.fixed.summary()
        return SampleSummary(
            set=self.eval_set.name,
            n=len(self.found[DEFAULT]),
            hit_at_4=hit_rate(self.found[DEFAULT]).value,
            hit_at_4_dense_alone=hit_rate(self.found[DENSE_ALONE]).value,
            exact_tokens_n=len(self.exact[DEFAULT]),
            exact_tokens_hit_at_4=hit_rate(self.exact[DEFAULT]).value,
            exact_tokens_hit_at_4_dense_alone=hit_rate(self.exact[DENSE_ALONE]).value,
            threshold=self.fixed.threshold,
            refusal_recall=verdict.refusal_recall,
            over_refusal=over_refusal(self.fixed),
            by_band=verdict.by_band,
            unlabelled=len(self.unlabelled),
        )


def answers(passage: str, question: Question) -> bool:
    """Return whether a passage holds the labelled quote, or another that answers as well."""
    return any(holds(passage, quote) for quote in (question.quote, *question.also))


def hit_rate(found: Sequence[Found]) -> Interval:
    """Return the share found, with its 95% bootstrap interval."""
    hits = np.array([float(one.hit) for one in found])
    return interval(lambda at: float(hits[at].mean()), len(found))


def over_refusal(result: AbstentionResult) -> float:
    """Return the share of answerable questions refused, short and long together."""
    return refused_share([one for one in result.verdicts if one.observation.is_answerable]) or 0.0


async def measure_sample(sample: Sample, threshold_cosine: float) -> SampleResult:
    """Measure retrieval and the fixed threshold on the sample corpus.

    Args:
        sample: Opened with the profiles ``DEFAULT`` and ``DENSE_ALONE``.
        threshold_cosine: The one in force without a calibration.
    """
    left_out = {one.id for one in sample.unlabelled}
    eval_set = sample.eval_set
    queries = [one for one in eval_set.queries if one.id not in left_out]
    exact = [one for one in eval_set.exact if one.id not in left_out]
    profiles = (DEFAULT, DENSE_ALONE)
    observations = await observe_set(sample.scratch, eval_set)
    return SampleResult(
        eval_set=eval_set,
        found={name: await find(sample.scratch, queries, name) for name in profiles},
        exact={name: await find(sample.scratch, exact, name) for name in profiles},
        observations=observations,
        fixed=evaluate_fixed(observations, threshold_cosine),
        unlabelled=sample.unlabelled,
    )


def _unlabelled(eval_set: EvalSet) -> list[Question]:
    labelled = (*eval_set.queries, *eval_set.exact)
    return [one for one in labelled if not holds(topics.get(one.topic, ""), one.quote)]
