"""The outermost layer of the HTTP application: names the process and carries the request id."""

from __future__ import annotations

import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from knowledge.client_channel import INSTANCE_HEADER
from mcp_server.origin import origin, origin_of
from service.logs import REQUEST_ID_HEADER, accept_request_id, request_id


class Edge:
    """Sets the request id for everything inside, and says on every response which process answered.

    A caller that pins the tools checks them anew when another process answers.

    Args:
        app: The application inside.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.instance = uuid.uuid4().hex

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        current = accept_request_id(Headers(scope=scope).get(REQUEST_ID_HEADER))

        async def send_named(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers[INSTANCE_HEADER] = self.instance
                headers[REQUEST_ID_HEADER] = current
            await send(message)

        token = request_id.set(current)
        came_from = origin.set(origin_of(Headers(scope=scope)))
        try:
            await self._app(scope, receive, send_named)
        finally:
            origin.reset(came_from)
            request_id.reset(token)
