"""The report on the sample corpus."""

from __future__ import annotations

from evals.report import Part, Report
from evals.sample import SampleResult, hit_rate
from evals.sets import half_of
from evals.tables import table
from evals.verdict_figures import band_plot


def sample_report(result: SampleResult) -> Report:
    """Return the report; its questions are the project's own and may be named."""
    threshold = result.fixed.threshold
    figures = {"bands": band_plot(result.fixed.verdicts, threshold, x="best cosine")}
    captions = {"bands": "Best cosine of every question, and the default threshold"}
    parts = [
        Part("Found among the first four passages", _hits_table(result)),
        Part("The uncalibrated default threshold", _threshold_table(result), captions),
        Part("Not found", _missed_table(result)),
    ]
    return Report("sample", "The sample corpus", parts, figures)


def _hits_table(result: SampleResult) -> str:
    rows: list[list[object]] = []
    for kind, by_profile in (("questions", result.found), ("exact tokens", result.exact)):
        for profile, found in by_profile.items():
            halves = {
                half: [one for one in found if half_of(one.question.id) == half]
                for half in ("dev", "test")
            }
            rows.append(
                [
                    kind,
                    profile,
                    len(found),
                    hit_rate(found),
                    hit_rate(halves["dev"]),
                    hit_rate(halves["test"]),
                ]
            )
    note = (
        "A passage counts when it holds the labelled quote, or another labelled as answering as "
        f"well. {len(result.unlabelled)} questions were left out because this Python's text lacks "
        "their quote.\n\n"
    )
    return note + table(("set", "profile", "n", "hit@4", "hit@4 dev", "hit@4 test"), rows)


def _threshold_table(result: SampleResult) -> str:
    summary = result.summary()
    bands = summary.by_band
    head = (
        *("threshold", "refusal recall", "over-refusal"),
        *(band.replace("_", " ") for band in bands),
    )
    row = (summary.threshold, summary.refusal_recall, summary.over_refusal, *bands.values())
    return table(head, [row])


def _missed_table(result: SampleResult) -> str:
    first = next(iter(result.found.values()))
    rows = [(one.question.topic, one.question.question) for one in first if not one.hit]
    return table(("topic", "question"), rows)
