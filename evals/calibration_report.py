"""The report that comes with a calibration."""

from __future__ import annotations

from evals.calibrate import Calibration
from evals.negatives import SYNTHETIC_BAND
from evals.report import Part, Report
from evals.tables import table
from evals.usable import blockers
from evals.verdict_figures import band_plot, reliability_plot, risk_plot


def calibration_report(made: Calibration, *, with_questions: bool = True) -> Report:
    """Return the report of one artefact.

    Args:
        made: The artefact and its certifying verdicts.
        with_questions: Name the questions nearest to the wrong side.
    """
    artefact = made.artefact
    figures = {
        "risk": risk_plot({"certifying half": made.certified}),
        "reliability": reliability_plot(made.certified),
        "bands": band_plot(made.certified, artefact.threshold, x="probability of being answerable"),
    }
    captions = {
        "risk": "Risk over coverage",
        "reliability": "Reliability",
        "bands": "Every question of the certifying half, and the threshold",
    }
    parts = [
        Part("What is promised", promise(made)),
        Part("On the certifying half", _operating_table(made), captions),
        Part("The model", _model_table(made)),
        Part("The index it belongs to", _stamp_table(made)),
    ]
    if with_questions:
        listed = "\n".join(f"- {one}" for one in blockers(made.certified))
        parts.append(Part("Nearest to the wrong side", listed))
    return Report("calibration", f"Calibration on {artefact.name}", parts, figures)


def promise(made: Calibration) -> str:
    """Return the bound in a sentence, with what the number of questions could give at best."""
    artefact = made.artefact
    bound = artefact.bound
    if bound is None:
        return "Nothing is certified."
    made_up = sum(one.observation.band == SYNTHETIC_BAND for one in made.certified)
    synthetic = f", {made_up} of them synthetic," if made_up else ""
    return (
        f"At {bound.confidence:.0%} confidence at most {bound.alpha:.1%} of unanswerable questions "
        f"like these{synthetic} get an answer ({bound.leaked} of {bound.n} did; so many questions "
        f"can certify {bound.smallest_alpha:.1%} at best). Threshold {artefact.threshold:.3f} on "
        f"the probability, chosen for {artefact.target.kind.replace('_', ' ')} of at most "
        f"{artefact.target.limit:.0%}. Cross-validated AUROC {made.cross_validated_auroc:.3f}."
    )


def _operating_table(made: Calibration) -> str:
    operating = made.artefact.operating
    rows = [
        ("answerable questions", operating.answerable),
        ("unanswerable questions", operating.unanswerable),
        ("AUROC", operating.auroc),
        ("refusal recall", operating.refusal_recall),
        ("over-refusal", operating.over_refusal),
        *(
            (f"refused, {band.replace('_', ' ')}", share)
            for band, share in operating.by_band.items()
        ),
    ]
    return table(("figure", "value"), rows)


def _model_table(made: Calibration) -> str:
    rows = [
        (one.name, one.coefficient, one.mean, one.scale, one.lowest, one.highest)
        for one in made.artefact.weights
    ]
    head = ("signal", "coefficient", "mean", "scale", "lowest", "highest")
    return f"Intercept {made.artefact.intercept:.3f}.\n\n{table(head, rows)}"


def _stamp_table(made: Calibration) -> str:
    stamp = made.artefact.stamp
    return table(("part", "value"), list(stamp.model_dump().items()))
