"""The HTTP application of the tool server, composed from its parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from mcp.server.mcpserver.tools import Tool
from mcp.server.transport_security import TransportSecuritySettings
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route

from knowledge.pin import make_pin
from mcp_server.audit import AuditSink, AuditTrail
from mcp_server.auth import GATEWAY_NAME, TokenGate
from mcp_server.calls import CallDesk
from mcp_server.edge import Edge
from mcp_server.engine import EngineOpener
from mcp_server.index_keeper import IndexKeeper
from mcp_server.limits import RateLimit, Turnstile
from mcp_server.metrics import ToolMetrics, watch_audit, watch_index
from mcp_server.probes import Probes
from mcp_server.server import ToolServer
from mcp_server.service_tools import INSTRUCTIONS as SERVICE_INSTRUCTIONS
from mcp_server.service_tools import ServiceTools
from mcp_server.settings import McpSettings
from mcp_server.tool_list import describe_tools
from mcp_server.tools import INSTRUCTIONS, DocumentationTools
from service.errors import SettingsError
from service.health import installed_version
from service.logs import get_logger
from service.metrics import open_registry
from service.tokens import Scope, TokenSigner

TOOLS_PATH = "/mcp"
SERVICE_PATH = "/mcp/service"

_FIRST_LOOK_SECONDS = 10.0

_log = get_logger(__name__)


def create_app(
    settings: McpSettings, *, opener: EngineOpener, sink: AuditSink, waits: bool = False
) -> Starlette:
    """Return the application.

    Args:
        settings: Tokens, allowed hosts and limits.
        opener: Opens the engine; may raise ``RetrievalError`` for as long as there is no index.
        sink: Where audit rows are kept.
        waits: Whether answers wait for the commit of their audit row.

    Raises:
        SettingsError: Neither a fixed token nor a signing key is set.
    """
    registry = open_registry("mcp", version=installed_version())
    keeper = IndexKeeper(opener, poll_seconds=settings.build_check_seconds)
    trail = AuditTrail(sink, waits=waits)
    _watch(registry, keeper, trail)
    sets = _ToolSets(settings, _open_desk(settings, trail, ToolMetrics(registry)))
    tools = sets.open("search", DocumentationTools(keeper).all(), INSTRUCTIONS)
    service = sets.open("service", ServiceTools(keeper, trail).all(), SERVICE_INSTRUCTIONS)

    tools_app = sets.serve(tools, TOOLS_PATH)
    service_app = sets.serve(service, SERVICE_PATH)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(_running(trail.run()))
            await stack.enter_async_context(_running(keeper.run()))
            await stack.enter_async_context(service.session_manager.run())
            await stack.enter_async_context(tools.session_manager.run())
            await _look_once(keeper)
            await _announce(tools, settings)
            yield

    # The tools are mounted last, and at the root: their path needs no trailing slash, no redirect.
    return Starlette(
        routes=[
            *Probes(keeper, trail, registry).routes(),
            Route(SERVICE_PATH, service_app),
            Mount("/", tools_app),
        ],
        middleware=[Middleware(Edge)],
        lifespan=lifespan,
    )


class _ToolSets:
    """Makes the servers, which differ in their tools and their scope alone."""

    def __init__(self, settings: McpSettings, desk: CallDesk) -> None:
        self._settings = settings
        self._desk = desk
        self._gate = _open_gate(settings)

    def open(self, scope: Scope, tools: Sequence[Tool], instructions: str) -> ToolServer:
        return ToolServer(
            f"vouch-{scope}",
            version=installed_version(),
            instructions=instructions,
            tools=tools,
            desk=self._desk,
            gate=self._gate,
            scope=scope,
        )

    def serve(self, server: ToolServer, path: str) -> Starlette:
        return server.streamable_http_app(
            streamable_http_path=path,
            stateless_http=True,
            transport_security=TransportSecuritySettings(
                enable_dns_rebinding_protection=True,
                allowed_hosts=list(self._settings.mcp_allowed_hosts),
                allowed_origins=list(self._settings.mcp_allowed_origins),
            ),
            max_request_body_size=self._settings.mcp_body_limit_bytes,
        )


def _watch(registry: CollectorRegistry, keeper: IndexKeeper, trail: AuditTrail) -> None:
    watch_audit(registry, lambda: trail.waiting)
    watch_index(
        registry,
        chunks=lambda: keeper.manifest.chunks if keeper.manifest else 0,
        age_seconds=keeper.age_seconds,
        is_up=lambda: float(keeper.health().status == "ok"),
    )


def _open_desk(settings: McpSettings, trail: AuditTrail, metrics: ToolMetrics) -> CallDesk:
    return CallDesk(
        trail=trail,
        metrics=metrics,
        rate=RateLimit(settings.mcp_calls_per_minute),
        turnstile=Turnstile(
            running=settings.mcp_concurrent_calls, waiting=settings.mcp_waiting_calls
        ),
        timeout_seconds=settings.mcp_call_timeout_seconds,
        logs_arguments=settings.mcp_log_arguments,
    )


def _open_gate(settings: McpSettings) -> TokenGate:
    token, key = settings.mcp_token, settings.signing_key
    if token is None and key is None:
        raise SettingsError(
            "set VOUCH_MCP_TOKEN or VOUCH_SIGNING_KEY: without either nobody could call a tool"
        )
    fixed = {} if token is None else {"fixed": token.get_secret_value()}
    if settings.gateway_token is not None:
        fixed[GATEWAY_NAME] = settings.gateway_token.get_secret_value()
    return TokenGate(fixed, None if key is None else TokenSigner(key.get_secret_value()))


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
