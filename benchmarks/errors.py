"""What can go wrong in a benchmark, as one tree.

BenchmarkError
    PeerError       a peer cannot be installed or run here
"""

from __future__ import annotations

from service.errors import VouchError


class BenchmarkError(VouchError):
    """A part cannot be measured."""

    code = "benchmark_failed"


class PeerError(BenchmarkError):
    """A peer cannot be installed or run here; the others can."""

    code = "peer_unavailable"
