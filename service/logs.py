"""Structured logs of a process: JSON lines, or coloured text when a person is watching.

Standard-library loggers (uvicorn, the MCP SDK) go through the same formatter, so one process writes
one kind of line. Every line carries the request id of the context it was written in.
"""

from __future__ import annotations

import logging
import sys
import uuid
from contextvars import ContextVar
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING, TextIO, TypeAlias

import structlog
from structlog.typing import EventDict, Processor

if TYPE_CHECKING:
    from service.settings import ServiceSettings

Logger: TypeAlias = structlog.stdlib.BoundLogger

REQUEST_ID_HEADER = "x-request-id"

_FILE_LIMIT_BYTES = 10 * 1024 * 1024
_FILES_KEPT = 5
_REQUEST_ID_LIMIT = 64
# These log every connection and request at INFO, which the processes' own lines say better.
_QUIET_LOGGERS = (
    # At DEBUG these write questions: requests to the model, statements with their values, messages.
    *("openai", "aiosqlite", "sqlalchemy", "asyncpg", "aiormq", "aio_pika"),
    "httpx",
    "httpx2",
    "httpcore",
    "mcp.server",
    "asyncio",
    "sse_starlette",
    "alembic",
)

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Id of the request being served, empty outside one; set at the edge and sent on from there."""

traceparent: ContextVar[str] = ContextVar("traceparent", default="")
"""W3C trace context of the request being served; empty when the caller sent none."""


def accept_request_id(offered: str | None) -> str:
    """Return the caller's request id when it is fit for a log line, else a new one.

    Args:
        offered: Value of the ``X-Request-ID`` header; at most 64 letters, digits, ``-`` and ``_``.
    """
    plain = (offered or "").replace("-", "").replace("_", "")
    if offered and len(offered) <= _REQUEST_ID_LIMIT and plain.isascii() and plain.isalnum():
        return offered
    return uuid.uuid4().hex


def get_logger(name: str) -> Logger:
    """Return the logger of a module; call it with an event name and keyword fields."""
    logger: Logger = structlog.stdlib.get_logger(name)
    return logger


def configure_logging(
    settings: ServiceSettings, *, process: str, stream: TextIO | None = None
) -> None:
    """Set up logging once, at the entry of a process.

    Args:
        settings: Level and directory; with a directory, ``<process>.log`` there is rotated at
            10 MB and five old files are kept.
        process: Short name of the process, written on every line.
        stream: Where lines go without a directory; None means standard error. A terminal gets
            readable lines, anything else JSON.
    """
    shared = _shared_processors(process)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler, for_people = _open_handler(settings, process, stream or sys.stderr)
    handler.setFormatter(_formatter(shared, for_people=for_people))
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    root.setLevel(settings.log_level)
    for name in _QUIET_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)


def _open_handler(
    settings: ServiceSettings, process: str, stream: TextIO
) -> tuple[logging.Handler, bool]:
    if settings.log_dir is None:
        return logging.StreamHandler(stream), stream.isatty()
    settings.log_dir.mkdir(parents=True, exist_ok=True)
    path = settings.log_dir / f"{process}.log"
    handler = RotatingFileHandler(
        path, maxBytes=_FILE_LIMIT_BYTES, backupCount=_FILES_KEPT, encoding="utf-8"
    )
    return handler, False


def _shared_processors(process: str) -> list[Processor]:
    def add_context(_: object, __: str, event: EventDict) -> EventDict:
        event["process"] = process
        if current := request_id.get():
            event["request_id"] = current
        return event

    return [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        add_context,
    ]


def _formatter(shared: list[Processor], *, for_people: bool) -> structlog.stdlib.ProcessorFormatter:
    strip = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    last: list[Processor]
    if for_people:
        plain = structlog.dev.plain_traceback
        last = [strip, structlog.dev.ConsoleRenderer(exception_formatter=plain)]
    else:
        last = [
            strip,
            # Without local variables: they hold questions, tokens and keys.
            structlog.processors.ExceptionRenderer(
                structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
            ),
            structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
        ]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder(), _drop_colours], processors=last
    )


def _drop_colours(_: object, __: str, event: EventDict) -> EventDict:
    # uvicorn repeats its message with escape sequences, for a formatter of its own.
    event.pop("color_message", None)
    return event
