"""What ``vouch calibrate`` writes and the guard reads: a small logistic model over named signals.

A coefficient file and not code: it can be read by a person, compared, exported and withdrawn. It
belongs to one embedding model, header format, chunker and profile, and says on which questions and
to which bound its threshold was certified.
"""

from __future__ import annotations

import hashlib
from typing import Literal

from pydantic import Field

from knowledge.contracts import Share, Wire

CalibrationState = Literal["fresh", "drifted", "void"]


class CalibrationStamp(Wire):
    """The index the artefact was made on, in the words of ``IndexInfo``."""

    embedding_model: str
    model_digest: str = Field(default="", description="Empty: unknown, and not compared.")
    dimension: int = Field(ge=1)
    header_format: str
    chunker: str
    profile: str
    build: str
    content_digest: str = ""
    chunks: int = Field(ge=1)
    sketch: tuple[int, ...] = Field(
        default=(), description="Of the chunk ids, to tell how much of a later build differs."
    )


class SignalWeight(Wire):
    """One signal's part of the log-odds: ``coefficient * (clip(number) - mean) / scale``."""

    name: str = Field(description="A field of Signals, or a key of its ``more``.")
    coefficient: float
    mean: float
    scale: float = Field(gt=0.0)
    lowest: float = Field(description="Smallest number seen in fitting; smaller ones are clipped.")
    highest: float = Field(description="Largest number seen in fitting.")
    missing: float = Field(description="Stands in where the index does not give the signal.")


class Target(Wire):
    """What the threshold was chosen for."""

    kind: Literal["leak", "over_refusal"]
    limit: Share


class Bound(Wire):
    """What the held-out part certifies about the leak rate, by an exact binomial argument."""

    alpha: Share = Field(description="Certified upper bound on the leak rate.")
    confidence: Share
    n: int = Field(ge=1, description="Unanswerable questions it was certified on.")
    leaked: int = Field(ge=0)
    smallest_alpha: Share = Field(description="What n could certify at best, with no leak.")


class SignalDistribution(Wire):
    """How one signal was distributed when calibrating, for the drift check and the picture."""

    name: str
    answerable: tuple[float, ...] = Field(description="Quantiles 0, 5, ... 100%.")
    unanswerable: tuple[float, ...] = Field(description="Quantiles 0, 5, ... 100%.")


class Operating(Wire):
    """Quality on the held-out part at the threshold."""

    auroc: Share
    refusal_recall: Share
    over_refusal: Share
    by_band: dict[str, Share] = Field(default_factory=dict, description="Refusal recall by band.")
    answerable: int = Field(ge=1)
    unanswerable: int = Field(ge=1)


class CalibrationArtefact(Wire):
    """One calibration."""

    schema_version: Literal["1"] = "1"
    name: str
    created_at: str = Field(description="UTC, ISO 8601.")
    stamp: CalibrationStamp
    intercept: float
    weights: tuple[SignalWeight, ...] = Field(min_length=1)
    threshold: Share = Field(description="On the probability; at or above it is answered.")
    target: Target
    bound: Bound | None = Field(default=None, description="Null when nothing was certified.")
    operating: Operating
    distributions: tuple[SignalDistribution, ...] = ()
    drift_limit: Share = Field(
        default=0.1, description="Share of changed chunks from which on it is void."
    )

    def digest(self) -> str:
        """Return the sha256 over its canonical JSON: its id in the database."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()
