"""What the engine counts."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter


class RetrievalMetrics:
    """Counters of one process.

    Args:
        registry: Of the process; None keeps the counts to itself.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.degraded = Counter(
            "vouch_retrieval_degraded_total",
            "Searches in which an optional stage failed and was left out, by stage.",
            ("stage",),
            registry=registry,
        )
