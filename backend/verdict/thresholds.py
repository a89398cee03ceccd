"""The uncalibrated default of the fixed guard mode, by embedding model.

A threshold belongs to one model: another model's cosines lie elsewhere. These numbers are starting
points for an installation that has not calibrated yet, and every response that rests on one says
so. For all-MiniLM-L6-v2, on the labelled questions of the sample corpus: 0.45 refuses 7% of the
answerable ones and 68% of the others (all far ones, 83% of the near ones); 0.50 refuses 15% and
78%, 0.60 57% and 93%.
"""

from __future__ import annotations

from dataclasses import dataclass

_DEFAULTS = {
    "all-minilm-l6-v2": 0.45,
    "bge-small-en-v1.5": 0.65,
    "nomic-embed-text-v1.5": 0.60,
    "qwen3-embedding-0.6b": 0.50,
}
_UNKNOWN_MODEL_COSINE = 0.60


@dataclass(frozen=True, slots=True)
class DefaultThreshold:
    """A default and whether it was made for the model.

    Attributes:
        cosine: In [-1, 1]; at or above it the evidence is strong enough.
        is_known: False for a model without an entry, where a strict value stands in.
    """

    cosine: float
    is_known: bool


def default_threshold(embedding_model: str) -> DefaultThreshold:
    """Return the default for a model.

    Args:
        embedding_model: As the index names it; an owner before a slash does not matter.
    """
    name = embedding_model.rpartition("/")[2].lower()
    known = next((cosine for known, cosine in _DEFAULTS.items() if name.startswith(known)), None)
    if known is None:
        return DefaultThreshold(cosine=_UNKNOWN_MODEL_COSINE, is_known=False)
    return DefaultThreshold(cosine=known, is_known=True)
