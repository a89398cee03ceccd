"""What the API counts and times."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from backend.contract import AskResponse
from service.metrics import LATENCY_BUCKETS_SECONDS, SHARE_BUCKETS


class AskMetrics:
    """Metrics of asks.

    Args:
        registry: Of the process.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._asks = Counter(
            "vouch_asks", "Answered and refused asks.", ("status", "reason"), registry=registry
        )
        self._failures = Counter(
            "vouch_ask_failures", "Asks that ended in an error.", ("code",), registry=registry
        )
        self._seconds = Histogram(
            "vouch_ask_seconds",
            "Time of a whole ask, waiting included, by status or code of the error.",
            ("outcome",),
            buckets=LATENCY_BUCKETS_SECONDS,
            registry=registry,
        )
        self._tool_errors = Counter(
            "vouch_agent_tool_errors",
            "Tool calls of agents that were refused or failed.",
            ("tool",),
            registry=registry,
        )
        self._stages = Histogram(
            "vouch_ask_stage_seconds",
            "Time of each stage of an ask.",
            ("stage",),
            buckets=LATENCY_BUCKETS_SECONDS,
            registry=registry,
        )
        self._best_cosine = Histogram(
            "vouch_best_cosine",
            "Best dense cosine of the guard's search.",
            buckets=SHARE_BUCKETS,
            registry=registry,
        )
        self._probability = Histogram(
            "vouch_guard_probability",
            "Calibrated probability that the documentation answers.",
            buckets=SHARE_BUCKETS,
            registry=registry,
        )
        self._support = Histogram(
            "vouch_citation_support",
            "Support of each citation shown.",
            buckets=SHARE_BUCKETS,
            registry=registry,
        )
        self._fidelity = Counter(
            "vouch_fidelity", "Evidence read against evidence judged.", ("verdict",),
            registry=registry,
        )  # fmt: skip
        self._degraded = Counter(
            "vouch_ask_degraded", "Asks in which something fell back.", ("what",),
            registry=registry,
        )  # fmt: skip
        self._removed = Counter(
            "vouch_removed_markers", "Citation markers outside the evidence.", registry=registry
        )
        self._packings = Counter(
            "vouch_evidence_packings", "Packings of evidence for an agent.", ("status",),
            registry=registry,
        )  # fmt: skip
        self._packed_away = Counter(
            "vouch_evidence_tokens_saved", "Tokens of evidence not put before an agent.",
            registry=registry,
        )  # fmt: skip
        self._shadow = Counter(
            "vouch_shadow_answers", "Refusals whose agent finished unseen.", ("result",),
            registry=registry,
        )  # fmt: skip
        self._running = Gauge("vouch_asks_running", "Asks worked on now.", registry=registry)
        self._waiting = Gauge("vouch_asks_waiting", "Asks waiting for a place.", registry=registry)
        self.spooled = Gauge(
            "vouch_records_spooled", "Records on disk that wait for the database.",
            registry=registry,
        )  # fmt: skip

    def watch_admission(self, running: Callable[[], float], waiting: Callable[[], float]) -> None:
        """Read the numbers of places taken and waited for whenever metrics are collected."""
        self._running.set_function(running)
        self._waiting.set_function(waiting)

    def note_response(self, response: AskResponse) -> None:
        """Count a response that goes out."""
        reason = response.abstention.reason if response.abstention else ""
        self._asks.labels(response.status, reason).inc()
        self._fidelity.labels(response.fidelity.verdict).inc()
        self._removed.inc(len(response.removed_markers))
        for packing in response.packing:
            self._packings.labels(packing.status).inc()
            self._packed_away.inc(packing.origin_tokens - packing.tokens)
        for name in response.degraded:
            self._degraded.labels(name).inc()
        for stage, milliseconds in response.timings_ms.items():
            self._stages.labels(stage).observe(milliseconds / 1000)
        self._note_evidence(response)

    def note_failure(self, code: str) -> None:
        """Count an ask that ended in an error."""
        self._failures.labels(code).inc()

    def note_seconds(self, outcome: str, seconds: float) -> None:
        """Count the time of an ask from its coming in to its end."""
        self._seconds.labels(outcome).observe(seconds)

    def note_shadow(self, result: str) -> None:
        """Count an agent that finished unseen: ``verified``, ``unverified`` or ``failed``."""
        self._shadow.labels(result).inc()

    def _note_evidence(self, response: AskResponse) -> None:
        if response.guard.best_cosine is not None:
            self._best_cosine.observe(response.guard.best_cosine)
        if response.guard.probability is not None:
            self._probability.observe(response.guard.probability)
        for citation in response.citations:
            self._support.observe(citation.support)
        for call in response.agent.tool_calls:
            if call.error:
                self._tool_errors.labels(call.tool).inc()
