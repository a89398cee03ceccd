"""How asks are handled: the part of the settings that the ask pipeline works with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from backend.settings import AskMode, SupportPolicy


@dataclass(frozen=True, slots=True)
class AskPolicy:
    """How asks are handled.

    Attributes:
        sentence: The whole answer of a refusal.
        timeout_seconds: Longest an ask may take, waiting included.
        support: What becomes of sentences without support.
        mode: Whether the agent starts with the guard or after it.
        versions: Of what takes part, for the record.
    """

    sentence: str
    timeout_seconds: float
    support: SupportPolicy = "mark"
    mode: AskMode = "concurrent"
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
