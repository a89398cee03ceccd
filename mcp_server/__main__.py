"""Entry of the tool server: ``python -m mcp_server``."""

from __future__ import annotations

import asyncio

import uvicorn

from mcp_server.app import create_app
from mcp_server.audit_sql import SqlAuditSink
from mcp_server.engine import Engine
from mcp_server.settings import McpSettings
from retrieval.metrics import RetrievalMetrics
from retrieval.opening import open_engine
from service.circuits import Circuits
from service.health import installed_version
from service.lifeline import follow_lifeline
from service.limiter_opening import open_limiter
from service.logs import configure_logging
from service.metrics import open_registry
from storage.database import Database, database_url
from storage.migrate import require_current

_KEEP_IDLE_SECONDS = 75
_GRACE_SECONDS = 10


def main() -> None:
    """Serve until stopped."""
    settings = McpSettings()
    configure_logging(settings, process="mcp")
    follow_lifeline(enabled=settings.lifeline)
    asyncio.run(_serve(settings))


async def _serve(settings: McpSettings) -> None:
    given = settings.database_url
    url = database_url(given.get_secret_value() if given else None, settings.data_dir, "audit")
    database = Database(
        url, timeout_seconds=settings.database_timeout_seconds, schema=require_current
    )

    registry = open_registry("mcp", version=installed_version())
    metrics = RetrievalMetrics(registry)
    circuits = Circuits(registry)

    async def opener() -> Engine:
        return await open_engine(settings, metrics, circuits=circuits)

    redis_url = settings.redis_url
    limiter = open_limiter(redis_url.get_secret_value() if redis_url else "", circuits)
    app = create_app(
        settings,
        opener=opener,
        sink=SqlAuditSink(database),
        waits=not database.is_sqlite,
        keeps=settings.record_policy == "spool",
        registry=registry,
        limiter=limiter,
        circuits=circuits,
    )
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            host=settings.mcp_host,
            port=settings.mcp_port,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=_KEEP_IDLE_SECONDS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
    )
    try:
        await server.serve()
    finally:
        await limiter.close()
        await database.close()


if __name__ == "__main__":
    main()
