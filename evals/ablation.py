"""The ladder: what each stage adds, from fixed-size chunks with vectors alone to the default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evals.cutters import Cutter, FixedCutter, StructuralCutter
from evals.retrieval import DEFAULT_K, RetrievalResult, evaluate_profiles
from evals.scratch import open_scratch, silent
from evals.sets import EvalSet
from evals.workbench import Workbench
from ingestion.report import Progress
from retrieval.profiles import SearchProfile

_DENSE_ALONE = SearchProfile(dense_weight=1.0, sparse_weight=0.0)
_SPARSE_ALONE = SearchProfile(dense_weight=0.0, sparse_weight=1.0)
_RANKS = SearchProfile(fusion="rrf")
_SCORES = SearchProfile()


@dataclass(frozen=True, slots=True)
class Step:
    """One rung.

    Attributes:
        adds: What it adds to the one before.
    """

    adds: str
    cutter: Cutter
    profile: SearchProfile


def ladder(bench: Workbench, default: SearchProfile) -> tuple[Step, ...]:
    """Return the rungs, the last being the default profile.

    Args:
        bench: Its cutter is the default's.
        default: The default retrieval profile.
    """
    cutter = bench.cutter
    if not isinstance(cutter, StructuralCutter):
        message = "the ladder leads to the structural chunker"
        raise TypeError(message)
    fixed = FixedCutter(cutter.tokenizer, cutter.rules)
    unrepeated = FixedCutter(cutter.tokenizer, cutter.rules, without_repeats=True)
    headless = StructuralCutter(cutter.tokenizer, cutter.rules, has_header=False)
    return (
        Step("fixed-size chunks, vectors alone", fixed, _DENSE_ALONE),
        Step("repeated lines removed", unrepeated, _DENSE_ALONE),
        Step("structural chunks", headless, _DENSE_ALONE),
        Step("contextual header", cutter, _DENSE_ALONE),
        Step("BM25 alone, for comparison", cutter, _SPARSE_ALONE),
        Step("both, ranks fused (RRF)", cutter, _RANKS),
        Step("both, scores fused", cutter, _SCORES),
        Step("nearest part of each passage (default)", cutter, default),
    )


async def climb(
    eval_set: EvalSet,
    bench: Workbench,
    default: SearchProfile,
    *,
    k: int = DEFAULT_K,
    progress: Progress = silent,
) -> Mapping[str, RetrievalResult]:
    """Measure every rung on the set's labelled questions."""
    results: dict[str, RetrievalResult] = {}
    for step in ladder(bench, default):
        async with open_scratch(
            eval_set,
            bench,
            profiles={step.adds: step.profile},
            cutter=step.cutter,
            progress=progress,
        ) as scratch:
            results |= await evaluate_profiles(
                eval_set.name, eval_set.queries, scratch, [step.adds], k
            )
    return results
