"""The circuits of one process: made once each, shown in its metrics and in its health."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, Gauge

from service.circuit import Circuit, CircuitState
from service.health import Check

_LEVELS: dict[CircuitState, int] = {"closed": 0, "half_open": 1, "open": 2}


class Circuits:
    """Makes and keeps circuits.

    Args:
        registry: Of the process; None shows nothing.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self._known: dict[str, Circuit] = {}
        self._gauge = Gauge(
            "vouch_circuit_state",
            "Circuit of an outside service: 0 closed, 1 half open, 2 open.",
            ("service",),
            registry=registry,
        )

    def of(self, name: str, *, failures: int | None = None) -> Circuit:
        """Return the circuit of a service.

        Args:
            name: Of the service.
            failures: In a row, that open it; None: the usual number. Counts at the first call only.
        """
        if name not in self._known:
            circuit = Circuit(name) if failures is None else Circuit(name, failures=failures)
            self._known[name] = circuit
            self._gauge.labels(name).set_function(lambda: _LEVELS[circuit.state])
        return self._known[name]

    def __iter__(self) -> Iterator[Circuit]:
        """Iterate over all of them."""
        return iter(tuple(self._known.values()))

    @property
    def fallen(self) -> tuple[str, ...]:
        """What answers say of circuits that are not closed, as ``redis_circuit_open``."""
        return tuple(f"{one.name}_circuit_open" for one in self if one.state != "closed")

    def checks(self) -> Mapping[str, Check]:
        """Return each as a check: an open one is something fallen back, not the end."""
        return {one.name: _check(one) for one in self}


def _check(circuit: Circuit) -> Check:
    if circuit.state == "closed":
        return Check(status="ok")
    return Check(
        status="degraded",
        detail=f"{circuit.name} failed again and again; "
        f"the next try is in {circuit.retry_after_seconds:.0f} s",
    )
