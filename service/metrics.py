"""Prometheus metrics: one registry per process, made at its entry and passed down.

Each package declares its own metrics in a small class that takes the registry, so that a test can
look at exactly the numbers its subject wrote.
"""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

LATENCY_BUCKETS_SECONDS = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)
SHARE_BUCKETS = tuple(step / 20 for step in range(1, 21))
"""Bounds for cosines, probabilities and shares, 0.05 apart."""


def open_registry(process: str, *, version: str) -> CollectorRegistry:
    """Return the registry of a process, with its memory, CPU and build information.

    Args:
        process: Short name of the process, as in its logs.
        version: Version of the installed package.
    """
    registry = CollectorRegistry(auto_describe=True)
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    info = Gauge(
        "vouch_process_info",
        "One, with the process and version as labels.",
        ("process", "version"),
        registry=registry,
    )
    info.labels(process, version).set(1)
    return registry


def render_metrics(registry: CollectorRegistry) -> tuple[bytes, str]:
    """Return the body and content type of a ``/metrics`` response."""
    return generate_latest(registry), CONTENT_TYPE_LATEST
