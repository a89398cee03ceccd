"""What the tool server counts."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from service.metrics import LATENCY_BUCKETS_SECONDS, SHARE_BUCKETS


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
        self.audit_waiting = Gauge(
            "vouch_audit_rows_waiting", "Audit rows not yet committed.", registry=registry
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
