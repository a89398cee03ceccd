"""Whether a passage says what a sentence says, and where: the citation check.

``support`` is the estimated probability, in [0, 1], that the passage states the sentence: a
logistic model on the named signals of ``support_features``. Its coefficients were fitted on pairs
of true and altered documentation sentences; ``support_weights`` says which, and how well the
probability holds on pairs it has not seen. A sentence is ``verified`` at ``VERIFIED_SUPPORT`` and
above. No model is called and nothing is read but the two texts.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from backend.citing.injection import find_injections
from backend.citing.markers import find_markers
from backend.support.features import Features, compare
from backend.support.passage import prepare
from backend.support.verbatim import find_verbatim
from backend.support.weights import INTERCEPT, VERIFIED_SUPPORT, WEIGHTS

__all__ = ["VERIFIED_SUPPORT", "Support", "probability", "support", "without_markers"]

LONGEST_QUOTE_CHARACTERS = 600
_ENUMERATOR = re.compile(r"(?:^|(?<=[\s(*]))(?:\d{1,2}[.)]|\d{1,2}\))(?=\s)")


@dataclass(frozen=True, slots=True)
class Support:
    """How far one passage supports one sentence.

    Attributes:
        support: Estimated probability that the passage states the sentence, in [0, 1].
        span: Characters ``[start, end)`` of the passage that support it best; None when there is
            nothing in common.
        quote: Those characters, verbatim; empty without a span.
        verified: Whether ``support`` reaches the documented threshold.
    """

    support: float
    span: tuple[int, int] | None
    quote: str
    verified: bool


NO_SUPPORT = Support(0.0, None, "", verified=False)


def support(sentence: str, passage_text: str, context: str = "") -> Support:
    """Judge whether a passage supports a sentence.

    A sentence that stands in the passage word for word has support 1. Text in the passage that is
    aimed at a model supports nothing.

    Args:
        sentence: One sentence of an answer; its citation markers are ignored.
        passage_text: The text of the cited passage.
        context: Title and headings of the passage, which it need not repeat.

    Returns:
        The support, with the place that carries it.
    """
    claim = without_markers(sentence)
    ignored = tuple((each.start, each.end) for each in find_injections(passage_text))
    place = find_verbatim(claim, passage_text)
    if place is not None and not any(s < place[1] and place[0] < e for s, e in ignored):
        return Support(1.0, place, passage_text[place[0] : place[1]], verified=True)
    found = compare(claim, prepare(passage_text, ignored), context)
    if found is None or found.features.window_coverage == 0:
        return NO_SUPPORT
    value = probability(found.features)
    end = min(found.end, found.start + LONGEST_QUOTE_CHARACTERS)
    quote = passage_text[found.start : end].rstrip()
    return Support(
        support=value,
        span=(found.start, found.start + len(quote)),
        quote=quote,
        verified=value >= VERIFIED_SUPPORT,
    )


def probability(features: Features) -> float:
    """Weigh the signals: the logistic of their weighted sum."""
    logit = INTERCEPT + sum(
        weight * float(getattr(features, name)) for name, weight in WEIGHTS.items()
    )
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))


def without_markers(sentence: str) -> str:
    """Take citation markers and enumerators (``2)``) out of a sentence."""
    for marker in reversed(find_markers(sentence)):
        sentence = sentence[: marker.start].rstrip() + sentence[marker.end :]
    return _ENUMERATOR.sub(" ", sentence)
