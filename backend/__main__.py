"""``python -m backend``: the API process."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from backend.app import create_app
from backend.settings import ApiSettings, load_settings
from service.errors import SettingsError, VouchError
from service.lifeline import follow_lifeline
from service.logs import configure_logging, get_logger
from storage.database import database_url
from storage.errors import DatabaseUnavailableError
from storage.migrate import check

_EXIT_BAD_SETTINGS = 2
# Longer than any proxy keeps an idle connection, and than anybody is told to wait before a next
# try: a connection closed at the moment it is used again fails a request that was never read.
_KEEP_IDLE_SECONDS = 75
_GRACE_SECONDS = 10


def main(*, reloads: bool = False) -> int:
    """Serve until told to stop; returns the exit status.

    Args:
        reloads: Start anew whenever the code changes; not in production.
    """
    try:
        settings = load_settings(os.environ)
        configure_logging(settings, process="api")
        if reloads:
            return _serve_reloading(settings)
        _look_at_database(settings)
        app = create_app(settings)
    except VouchError as error:
        sys.stderr.write(f"vouch api: {error}\n")
        return _EXIT_BAD_SETTINGS
    if settings.is_anonymous_allowed and not settings.is_local:
        get_logger(__name__).warning(
            "anyone who reaches this address can ask", host=settings.host, port=settings.port
        )
    if settings.allowed_hosts and not settings.trusted_proxies:
        get_logger(__name__).warning(
            "names are served and no proxy is listed: whoever comes through one counts as one "
            "address", setting="VOUCH_TRUSTED_PROXIES",
        )  # fmt: skip
    follow_lifeline(enabled=settings.lifeline)
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        # Which proxies are believed is a setting of ours; the server would believe loopback.
        proxy_headers=False,
        timeout_keep_alive=_KEEP_IDLE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    return 0


def make_app() -> FastAPI:
    """Return the application of this process's environment, made anew at each reload."""
    settings = load_settings(os.environ)
    configure_logging(settings, process="api")
    return create_app(settings)


def _serve_reloading(settings: ApiSettings) -> int:
    if settings.env == "prod":
        raise SettingsError("--reload is for development: VOUCH_ENV is prod")
    uvicorn.run(
        "backend.__main__:make_app",
        factory=True,
        reload=True,
        reload_dirs=[str(Path(__file__).resolve().parents[1])],
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
    )
    return 0


def _look_at_database(settings: ApiSettings) -> None:
    """Refuse to start on tables of another version; one that is away may come later.

    Its tables are then looked at before they are first used.
    """
    try:
        check(database_url(settings.database_url, settings.data_dir, "vouch"))
    except DatabaseUnavailableError as error:
        get_logger(__name__).warning("the database is away", detail=str(error))


if __name__ == "__main__":
    sys.exit(main())
