"""Near misses: the set's own questions after their answers were taken away.

The hardest kind of negative: everything about the question is of the corpus, only its labelled
sections are hidden. A model fitted on the real negatives judges them; it saw none of them.
"""

from __future__ import annotations

from evals.crossvalidation import cross_validate
from evals.curves import auroc
from evals.logistic import fit
from evals.negatives import near_misses, observe_held_out
from evals.observations import Observation
from evals.operating import Limits, judged, refused_share, threshold_for
from evals.report import Part
from evals.scratch import Scratch
from evals.sets import EvalSet
from evals.tables import table


async def near_miss_part(
    scratch: Scratch, eval_set: EvalSet, observations: tuple[Observation, ...]
) -> Part:
    """Return the part of the report on near misses, with and without fitting on such questions."""
    held_out = near_misses((*eval_set.queries, *eval_set.short))
    if not held_out:
        return Part("Near misses", "No question of the set is labelled with sections to hide.")
    missed = await observe_held_out(scratch, held_out, scratch.sections_of)
    positives = [one for one in observations if one.is_answerable]
    rows = [_as_fitted(observations, positives, missed), _refitted(positives, missed)]
    return Part(
        "Near misses",
        f"{len(missed)} labelled questions asked again with their own sections hidden. Some still "
        "have an answer elsewhere in the corpus, so that not every one should be refused.\n\n"
        + table(("fitted on", "AUROC", "refusal recall", "over-refusal"), rows),
    )


def _as_fitted(
    observations: tuple[Observation, ...],
    positives: list[Observation],
    missed: tuple[Observation, ...],
) -> tuple[object, ...]:
    model = fit(observations)

    def number_of(one: Observation) -> float:
        return model.probability(one.signals)

    threshold = threshold_for(observations, number_of, Limits())
    return (
        "the set's own negatives",
        auroc([number_of(one) for one in positives], [number_of(one) for one in missed]),
        refused_share(judged(missed, number_of, threshold)),
        refused_share(judged(positives, number_of, threshold)),
    )


def _refitted(positives: list[Observation], missed: tuple[Observation, ...]) -> tuple[object, ...]:
    found = cross_validate([*positives, *missed], Limits())
    answered = [one for one in found.verdicts if one.observation.is_answerable]
    refused = [one for one in found.verdicts if not one.observation.is_answerable]
    return (
        "near misses, cross-validated",
        found.separation(("short", "long")),
        refused_share(refused),
        refused_share(answered),
    )
