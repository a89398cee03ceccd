"""What a supervisor and a metrics collector ask of the tool server; neither needs a token."""

from __future__ import annotations

from prometheus_client import CollectorRegistry
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mcp_server.audit import AuditTrail
from mcp_server.index_keeper import IndexKeeper
from service.circuits import Circuits
from service.health import describe_health, installed_version
from service.metrics import render_metrics


class Probes:
    """Health and metrics of this process.

    Args:
        keeper: Says how the index is.
        trail: Says how the audit is.
        registry: Metrics of this process.
        circuits: Of the outside services this process leaves alone when they fail.
    """

    def __init__(
        self,
        keeper: IndexKeeper,
        trail: AuditTrail,
        registry: CollectorRegistry,
        circuits: Circuits | None = None,
    ) -> None:
        self._keeper = keeper
        self._trail = trail
        self._registry = registry
        self._circuits = circuits

    def routes(self) -> list[Route]:
        """Return the routes of the probes."""
        return [
            Route("/healthz", self.health, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
        ]

    async def health(self, _: Request) -> Response:
        """Return the health document; the process is alive, so the status is always 200."""
        document = describe_health(
            "mcp",
            version=installed_version(),
            checks={
                "index": self._keeper.health(),
                "audit": self._trail.health(),
                **(self._circuits.checks() if self._circuits else {}),
            },
            details={"build": self._keeper.build},
        )
        return JSONResponse(document.model_dump(mode="json"))

    async def metrics(self, _: Request) -> Response:
        """Return the metrics of this process."""
        body, content_type = render_metrics(self._registry)
        return Response(body, media_type=content_type)
