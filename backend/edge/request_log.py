"""Gives every request an id and writes one line about it."""

from __future__ import annotations

import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.logs import (
    REQUEST_ID_HEADER,
    accept_request_id,
    get_logger,
    request_id,
    traceparent,
)

_logger = get_logger(__name__)


class RequestLogMiddleware:
    """Sets the request id for all lines written while serving, and returns it as a header.

    Args:
        app: What is served.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        identifier = accept_request_id(headers.get(REQUEST_ID_HEADER))
        token = request_id.set(identifier)
        trace_token = traceparent.set(headers.get("traceparent", ""))
        started = time.perf_counter()
        status = 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = identifier
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            # The path has no question in it; what was asked stays out of the logs.
            _logger.info(
                "request",
                method=scope["method"],
                path=scope["path"],
                status=status,
                milliseconds=round((time.perf_counter() - started) * 1000, 1),
            )
            traceparent.reset(trace_token)
            request_id.reset(token)
