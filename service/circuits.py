"""The circuits of one process, for its metrics and its health."""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Gauge

from service.circuit import Circuit, CircuitState
from service.health import Check

_LEVELS: dict[CircuitState, int] = {"closed": 0, "half_open": 1, "open": 2}


def watch_circuits(registry: CollectorRegistry, circuits: Sequence[Circuit]) -> None:
    """Show the state of each circuit whenever metrics are collected.

    Args:
        registry: Of the process.
        circuits: Of the process.
    """
    gauge = Gauge(
        "vouch_circuit_state",
        "Circuit of an outside service: 0 closed, 1 half open, 2 open.",
        ("service",),
        registry=registry,
    )
    for circuit in circuits:
        gauge.labels(circuit.name).set_function(lambda one=circuit: _LEVELS[one.state])


def fallen_back(circuits: Sequence[Circuit]) -> tuple[str, ...]:
    """Return what answers say of circuits that are not closed, as ``redis_circuit_open``."""
    return tuple(f"{one.name}_circuit_open" for one in circuits if one.state != "closed")


def check_circuit(circuit: Circuit) -> Check:
    """Return a circuit's state as a check: an open one is something fallen back, not the end."""
    if circuit.state == "closed":
        return Check(status="ok")
    return Check(
        status="degraded",
        detail=f"{circuit.name} failed again and again; "
        f"the next try is in {circuit.retry_after_seconds:.0f} s",
    )
