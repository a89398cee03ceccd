"""What the tool server counts."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from pydantic import BaseModel

from context.contract_memory import MemorySearch
from knowledge.contracts import SearchResult
from service.metrics import LATENCY_BUCKETS_SECONDS, SHARE_BUCKETS

_COUNT_BUCKETS = (0, 1, 2, 5, 10, 20, 50)


class ToolMetrics:
    """Metrics of tool calls.

    Args:
        registry: Registry of this process.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.seconds = Histogram(
            "vouch_tool_call_seconds",
            "Time of a tool call inside the server.",
            ("tool", "branch"),
            buckets=LATENCY_BUCKETS_SECONDS,
            registry=registry,
        )
        self.errors = Counter(
            "vouch_tool_errors",
            "Tool calls that were refused or failed, by code.",
            ("tool", "code"),
            registry=registry,
        )
        self.best_cosine = Histogram(
            "vouch_search_best_cosine",
            "Best cosine of a search.",
            buckets=SHARE_BUCKETS,
            registry=registry,
        )
        self.degraded = Counter(
            "vouch_search_degraded",
            "Searches in which a stage fell back, by stage.",
            ("stage",),
            registry=registry,
        )

        self.memory_searches = Counter(
            "vouch_memory_searches",
            "Searches of memories, by tool version, form of the filter and reranking.",
            ("version", "filter", "rerank"),
            registry=registry,
        )
        self.memory_hits = Histogram(
            "vouch_memory_hits",
            "Memories a search found.",
            buckets=_COUNT_BUCKETS,
            registry=registry,
        )
        self.memory_limit = Histogram(
            "vouch_memory_limit",
            "Memories a search asked for.",
            buckets=_COUNT_BUCKETS,
            registry=registry,
        )
        self.memory_threshold = Histogram(
            "vouch_memory_threshold_cosine",
            "Least cosine a search of memories asked for.",
            buckets=SHARE_BUCKETS,
            registry=registry,
        )

    def observe(self, *, tool: str, branch: str, milliseconds: float, error: str) -> None:
        """Count one call.

        Args:
            tool: A tool this server has; anything else is counted as ``unknown``.
            branch: From the caller's claims.
            milliseconds: Duration inside the server.
            error: Code of the failure; empty on success.
        """
        self.seconds.labels(tool, branch).observe(milliseconds / 1000)
        if error:
            self.errors.labels(tool, error).inc()

    def observe_result(self, result: BaseModel) -> None:
        """Count what a search found; other results hold nothing to count."""
        if isinstance(result, MemorySearch):
            self._observe_memories(result)
        if not isinstance(result, SearchResult):
            return
        if result.signals.best_cosine is not None:
            self.best_cosine.observe(result.signals.best_cosine)
        for stage in result.degraded:
            self.degraded.labels(stage).inc()

    def _observe_memories(self, found: MemorySearch) -> None:
        searched, rerank = found.searched, found.rerank
        reranking = "used" if rerank.used else "failed" if rerank.asked else "off"
        form = filter_form(searched.filter_shape)
        self.memory_searches.labels(searched.tool_version, form, reranking).inc()
        self.memory_hits.observe(searched.hits)
        self.memory_limit.observe(searched.limit)
        self.memory_threshold.observe(searched.threshold)


def filter_form(shape: str) -> str:
    """Return which logic a filter uses; there are few forms, whatever callers write.

    The whole shape and the keys are in the log line and in the result.
    """
    words = [word for word in ("AND", "OR", "NOT") if word in shape]
    return "+".join(words) or ("fields" if shape else "none")


def watch_audit(registry: CollectorRegistry, waiting: Callable[[], int]) -> None:
    """Show how many audit rows are not yet committed.

    Args:
        registry: Registry of this process.
        waiting: Asked at each collection.
    """
    gauge = Gauge("vouch_audit_rows_waiting", "Audit rows not yet committed.", registry=registry)
    gauge.set_function(waiting)


def watch_index(
    registry: CollectorRegistry,
    *,
    chunks: Callable[[], float],
    age_seconds: Callable[[], float],
    is_up: Callable[[], float],
) -> None:
    """Show the build in force.

    Args:
        registry: Registry of this process.
        chunks: Number of its chunks; zero without one.
        age_seconds: Time since it was made; zero without one.
        is_up: One when the published build is served, zero otherwise.
    """
    for name, help_text, ask in (
        ("vouch_index_chunks", "Chunks of the build in force.", chunks),
        ("vouch_index_build_age_seconds", "Time since the build in force was made.", age_seconds),
        ("vouch_index_up", "One when the published build is served.", is_up),
    ):
        Gauge(name, help_text, registry=registry).set_function(ask)
