"""The report of ``vouch eval citations``."""

from __future__ import annotations

from collections.abc import Sequence

from backend.support.weights import INTERCEPT, WEIGHTS
from evals import figures
from evals.citations import CitationResult
from evals.report import Part, Report
from evals.tables import table

_METHOD = """
From every section of a corpus a few of its own sentences are taken. As they stand and rephrased
(synonyms, contractions, another word order or inflection, a side clause left out, several of these)
the section supports them. With a number, a version, a name, a negation or a word's opposite changed
it does not, and neither does the section that follows. Changes are made on rephrased sentences as
often as on verbatim ones. *Reference* pairs are claims of reference answers, which are in free
words, against the sections they are labelled with; they are the hard ones.

The halves are split by page (reference answers by question), and the coefficients were fitted on
development halves of the first two sets alone. The rules that make the pairs use word lists of
their own. They are rules all the same: a language model's errors are subtler than a changed number,
so read the figures as an upper bound and the rows of reference pairs as the sober ones.
"""


def citation_report(results: Sequence[CitationResult]) -> Report:
    """Return how well the check separates, over one or several sets and halves.

    Args:
        results: In the order to show; the details are of the first.
    """
    first = results[0]
    plots = {
        "support": figures.strips(
            {
                "not supported": _sample([v for v, is_true in first.support if not is_true]),
                "supported": _sample([v for v, is_true in first.support if is_true]),
            },
            title=f"Support of each pair, {_label(first)}",
            x="support",
            threshold=first.threshold,
        ),
        "reliability": figures.lines(
            {_label(result): result.reliability for result in results},
            title="Reliability",
            x="mean support",
            y="share supported",
            diagonal=True,
        ),
    }
    return Report(
        name="citations",
        title="The citation check",
        parts=(
            Part("Result", _overview(results), {"support": "Support of each pair"}),
            Part("Method", _METHOD),
            *(Part(f"By change: {_label(result)}", _by_change(result)) for result in results),
            Part("Reliability", _reliability(first), {"reliability": "Reliability"}),
            Part("The model", _model()),
        ),
        figures=plots,
    )


def _label(result: CitationResult) -> str:
    return f"{result.set_name} ({result.split})"


def _sample(values: Sequence[float], most: int = 120) -> list[float]:
    step = max(1, len(values) // most)
    return list(values[::step])


def _overview(results: Sequence[CitationResult]) -> str:
    head = ["set (half)", "n", "AUROC", "precision", "recall", "threshold", "calibration error"]
    return table(
        head,
        [
            [
                _label(result),
                result.n,
                result.auroc,
                result.precision,
                result.recall,
                result.threshold,
                result.calibration_error,
            ]
            for result in results
        ],
    )


def _by_change(result: CitationResult) -> str:
    rows = [
        [name, "yes" if each.supported else "no", each.n, each.auroc, each.accepted]
        for name, each in result.by_change.items()
    ]
    head = ["pair", "supported", "n", "AUROC against the other class", "share verified"]
    return table(head, rows)


def _reliability(result: CitationResult) -> str:
    rows = [[point.x, point.y, point.n] for point in result.reliability]
    intro = (
        "Support is the probability that the passage states the claim, meant for answers in which "
        "three claims of four are right. The pairs hold fewer true ones, so that the share "
        "supported lies a little below the support here."
    )
    return f"{intro}\n\n{table(['mean support', 'share supported', 'n'], rows)}"


def _model() -> str:
    rows = [["intercept", INTERCEPT], *([name, weight] for name, weight in WEIGHTS.items())]
    return table(["signal", "coefficient"], rows)
