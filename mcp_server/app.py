"""The HTTP application of the tool server, composed from its parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route

from knowledge.pin import make_pin
from mcp_server.audit import AuditSink, AuditTrail
from mcp_server.audit_retention import sweep_audit
from mcp_server.calls import CallDesk
from mcp_server.context_registry import memory_opener_of, open_context_tools
from mcp_server.context_rest import CONTEXT_API_PATH
from mcp_server.context_tools import INSTRUCTIONS as CONTEXT_INSTRUCTIONS
from mcp_server.edge import Edge
from mcp_server.engine import EngineOpener
from mcp_server.gate import open_gate
from mcp_server.index_keeper import IndexKeeper
from mcp_server.limits import RateLimit, Turnstile
from mcp_server.memory_keeper import MemoryKeeper, MemoryOpener
from mcp_server.metrics import ToolMetrics, watch_audit, watch_index
from mcp_server.probes import Probes
from mcp_server.server import ToolServer
from mcp_server.service_tools import INSTRUCTIONS as SERVICE_INSTRUCTIONS
from mcp_server.service_tools import ServiceTools
from mcp_server.settings import McpSettings
from mcp_server.tool_list import describe_tools
from mcp_server.tool_sets import ToolSets
from mcp_server.tools import INSTRUCTIONS, DocumentationTools
from service.circuits import Circuits
from service.health import installed_version
from service.limiter import Limiter
from service.logs import get_logger
from service.metrics import open_registry

TOOLS_PATH = "/mcp"
SERVICE_PATH = "/mcp/service"
CONTEXT_PATH = "/mcp/context"

_FIRST_LOOK_SECONDS = 10.0

_log = get_logger(__name__)


def create_app(
    settings: McpSettings,
    *,
    opener: EngineOpener,
    sink: AuditSink,
    waits: bool = False,
    keeps: bool = False,
    memory_opener: MemoryOpener | None = None,
    registry: CollectorRegistry | None = None,
    limiter: Limiter | None = None,
    circuits: Circuits | None = None,
) -> Starlette:
    """Return the application.

    Args:
        settings: Tokens, allowed hosts and limits.
        opener: Opens the engine; may raise ``RetrievalError`` for as long as there is no index.
        sink: Where audit rows are kept.
        waits: Whether answers wait for the commit of their audit row.
        keeps: Whether they go out all the same while the sink is away.
        memory_opener: Opens agents' memories; None: beside the index, as the settings have it.
        registry: Metrics of this process; None opens one.
        limiter: Counts calls; None counts in this process.
        circuits: Of the outside services, for the health document.

    Raises:
        SettingsError: Neither a fixed token nor a signing key is set.
    """
    memories = MemoryKeeper(memory_opener or memory_opener_of(settings))
    registry = registry or open_registry("mcp", version=installed_version())
    keeper = IndexKeeper(opener, poll_seconds=settings.build_check_seconds)
    trail = AuditTrail(sink, waits=waits, keeps=keeps)
    _watch(registry, keeper, trail)
    desk = _open_desk(settings, trail, ToolMetrics(registry), limiter)
    sets = ToolSets(settings, desk, open_gate(settings))
    modules = open_context_tools(settings, keeper, memories)
    tools = sets.open("search", DocumentationTools(keeper).all(), INSTRUCTIONS)
    service = sets.open("service", ServiceTools(keeper, trail).all(), SERVICE_INSTRUCTIONS)
    context = sets.open("context", modules, CONTEXT_INSTRUCTIONS)

    tools_app = sets.serve(tools, TOOLS_PATH)
    service_app = sets.serve(service, SERVICE_PATH)
    context_app = sets.serve(context, CONTEXT_PATH)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(_running(trail.run()))
            await stack.enter_async_context(
                _running(sweep_audit(trail, days=settings.retention_days))
            )
            await stack.enter_async_context(_running(keeper.run()))
            await stack.enter_async_context(memories.running())
            await stack.enter_async_context(service.session_manager.run())
            await stack.enter_async_context(context.session_manager.run())
            await stack.enter_async_context(tools.session_manager.run())
            await _look_once(keeper)
            await _announce(tools, settings)
            yield

    # The tools are mounted last, and at the root: their path needs no trailing slash, no redirect.
    return Starlette(
        routes=[
            *Probes(keeper, trail, registry, circuits).routes(),
            Route(SERVICE_PATH, service_app),
            Route(CONTEXT_PATH, context_app),
            Mount(CONTEXT_API_PATH, sets.serve_rest(modules)),
            Mount("/", tools_app),
        ],
        middleware=[Middleware(Edge)],
        lifespan=lifespan,
    )


def _watch(registry: CollectorRegistry, keeper: IndexKeeper, trail: AuditTrail) -> None:
    watch_audit(registry, lambda: trail.waiting)
    watch_index(
        registry,
        chunks=lambda: keeper.manifest.chunks if keeper.manifest else 0,
        age_seconds=keeper.age_seconds,
        is_up=lambda: float(keeper.health().status == "ok"),
    )


def _open_desk(
    settings: McpSettings, trail: AuditTrail, metrics: ToolMetrics, limiter: Limiter | None
) -> CallDesk:
    return CallDesk(
        trail=trail,
        metrics=metrics,
        rate=RateLimit(settings.mcp_calls_per_minute, limiter=limiter),
        turnstile=Turnstile(
            running=settings.mcp_concurrent_calls, waiting=settings.mcp_waiting_calls
        ),
        timeout_seconds=settings.mcp_call_timeout_seconds,
        logs_arguments=settings.mcp_log_arguments,
    )


@asynccontextmanager
async def _running(work: Coroutine[None, None, None]) -> AsyncGenerator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _look_once(keeper: IndexKeeper) -> None:
    # Whoever starts this process takes its first answer for "ready", so it waits for the index
    # when there is one, and not for long when there is none.
    with suppress(TimeoutError):
        async with asyncio.timeout(_FIRST_LOOK_SECONDS):
            await keeper.looked.wait()


async def _announce(server: ToolServer, settings: McpSettings) -> None:
    described = await describe_tools(server)
    _log.info(
        f"MCP Streamable HTTP at POST {TOOLS_PATH}",
        fixed_token="set" if settings.mcp_token else "unset",
        signed_tokens="accepted" if settings.signing_key else "refused",
        tools=[tool.name for tool in described],
        digest=make_pin(described).digest,
    )
