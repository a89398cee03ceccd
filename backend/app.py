"""Makes the application: routes, errors, perimeter and pages around the services."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from backend.api import a2a as api_a2a
from backend.api import ask as api_ask
from backend.api import completions as api_completions
from backend.api import health as api_health
from backend.api import hooks as api_hooks
from backend.api import ingestion as api_ingestion
from backend.api import records as api_records
from backend.api import search as api_search
from backend.api import tools as api_tools
from backend.api.error_document import DocumentedApp
from backend.desk.report_shelf import FOLDER as REPORTS
from backend.desk.report_shelf import ReportShelf
from backend.desk.service import Desk
from backend.door import PageDoor
from backend.edge.admin import AdminRule
from backend.edge.gate import DOCUMENT_PATH, GateMiddleware
from backend.edge.proxies import ProxyMiddleware
from backend.edge.request_log import RequestLogMiddleware
from backend.edge.security import Perimeter, SecurityMiddleware
from backend.edge.uploads import UploadFolder
from backend.intake.desk import DeskRules
from backend.intake.hooks import HookRules
from backend.pages import ingest as pages_ingest
from backend.pages import routes as pages
from backend.pages.routes import Pages
from backend.pages.templates import Templates
from backend.pages.widget import PREFIX
from backend.problems import answer_error, install_problem_handlers
from backend.services import Opener, open_services
from backend.settings import ApiSettings
from knowledge.forward import Forwarder
from service.health import installed_version
from service.tokens import TokenSigner

_DESCRIPTION = (
    "Answers questions about a body of documentation, and answers only when the evidence vouches "
    "for it. Errors are problem documents (RFC 9457) with a stable `code`."
)


def create_app(settings: ApiSettings, opener: Opener = open_services) -> FastAPI:
    """Return the application.

    Args:
        settings: Of the process.
        opener: Opens the services; a test passes its own.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with opener(settings) as services, open_forwarder(settings) as forwarder:
            app.state.services = services
            app.state.forwarder = forwarder
            yield

    is_dev = settings.env == "dev"
    app = DocumentedApp(
        title="Vouch",
        version=installed_version(),
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url="/docs" if is_dev else None,
        redoc_url="/redoc" if is_dev else None,
        # Behind the gate like every path, and in production for holders of a key alone.
        openapi_url=DOCUMENT_PATH,
    )
    install_problem_handlers(app)
    _install_perimeter(app, settings)
    for router in (
        api_ask.router,
        api_completions.router,
        api_search.router,
        api_tools.router,
        api_a2a.router,
        api_records.router,
        api_health.router,
        api_ingestion.router,
        api_hooks.router,
        pages_ingest.router,
        pages.router,
    ):
        app.include_router(router)
    app.state.admin = AdminRule(settings.admin_token.get_secret_value())
    app.state.hook_rules = HookRules(
        settings.webhook_secret.get_secret_value().encode(), settings.webhook_window_seconds
    )
    app.state.desk_rules = DeskRules(
        roots=settings.job_roots,
        uploads=UploadFolder(settings.uploads_dir, limit_bytes=settings.upload_limit_bytes),
    )
    shelf = ReportShelf(settings.data_dir / REPORTS)
    app.state.pages = Pages(
        services=PageDoor(app),
        desk=Desk(app, shelf),
        templates=Templates(),
        framed_by=settings.widget_origins,
    )
    return app


def open_forwarder(settings: ApiSettings) -> Forwarder:
    """Return what passes calls of other agents on to the tool server."""
    return Forwarder(
        settings.mcp_url,
        TokenSigner(settings.signing_key.get_secret_value()),
        timeout_seconds=settings.knowledge_timeout_seconds,
    )


def _install_perimeter(app: FastAPI, settings: ApiSettings) -> None:
    # The last one added is the outermost.
    app.add_middleware(GateMiddleware, answer=answer_error)
    app.add_middleware(
        SecurityMiddleware,
        perimeter=Perimeter(
            hosts={settings.host.lower(), *(host.lower() for host in settings.allowed_hosts)},
            origins=settings.allowed_origins,
            limit_bytes=settings.request_limit_bytes,
            upload_paths={f"{api_ingestion.PREFIX}/upload", "/ingest/upload"},
            upload_limit_bytes=settings.upload_limit_bytes,
            framed_paths={PREFIX, f"{PREFIX}.js"} if settings.widget_origins else (),
        ),
    )
    app.add_middleware(
        CORSMiddleware,
        allow_origins=settings.allowed_origins,
        allow_methods=["GET", "POST", "OPTIONS"],
        allow_headers=["Content-Type", "Authorization", "Prefer"],
        expose_headers=[
            "Location",
            "Preference-Applied",
            "Retry-After",
            "RateLimit",
            "RateLimit-Policy",
            "X-Request-ID",
        ],
    )
    app.add_middleware(RequestLogMiddleware)
    app.add_middleware(ProxyMiddleware, proxies=settings.proxies)
