"""Keeps foreign hosts, foreign pages and oversized bodies out, and sets the security headers.

A page elsewhere can make a browser send requests here; what it cannot do is choose the ``Host``,
``Origin`` and ``Sec-Fetch-Site`` that the browser sends with them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.errors import ForeignRequestError, RequestTooLargeError
from backend.problems import describe_error, problem_response
from backend.settings import LOOPBACK_HOSTS
from service.errors import VouchError

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# Probes and scrapers come by address, and these answer nothing that a foreign page could use.
_OPEN_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
_OWN_SITES = frozenset({"", "same-origin", "none"})
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
# The interactive API pages of the framework load their script from a content network.
_DOCS_PATHS = frozenset({"/docs", "/redoc"})
_DOCS_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' https://cdn.jsdelivr.net; "
    "style-src 'unsafe-inline' https://cdn.jsdelivr.net https://fonts.googleapis.com; "
    "font-src https://fonts.gstatic.com; img-src 'self' data: https://fastapi.tiangolo.com "
    "https://cdn.redoc.ly; worker-src blob:; connect-src 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
# The older header knows no list of origins and would forbid them all.
_FRAMED_HEADERS = {
    **{name: value for name, value in _HEADERS.items() if name != "x-frame-options"},
    "cross-origin-resource-policy": "cross-origin",
}


@dataclass(frozen=True, slots=True)
class Perimeter:
    """Who may send requests.

    Attributes:
        hosts: Names the service is reached by, beside loopback.
        origins: Foreign pages that may call it.
        limit_bytes: Largest body.
        upload_paths: Where larger bodies may be sent.
        upload_limit_bytes: Largest of those.
        framed_paths: What pages of others may show or load; their own policy says which pages.
    """

    hosts: Collection[str]
    origins: Collection[str]
    limit_bytes: int
    upload_paths: Collection[str] = ()
    upload_limit_bytes: int = 0
    framed_paths: Collection[str] = ()

    def limit_of(self, path: str) -> int:
        """Return the largest body that may be sent to a path."""
        return self.upload_limit_bytes if path in self.upload_paths else self.limit_bytes

    def refuse(self, method: str, path: str, headers: Headers) -> VouchError | None:
        """Return why a request is refused, or None."""
        if path not in _OPEN_PATHS and not self._is_own_host(headers.get("host", "")):
            return ForeignRequestError("this service does not answer for that host name")
        if method not in _SAFE_METHODS and not self._is_own_page(headers):
            return ForeignRequestError("a page of another site sent this request")
        length = headers.get("content-length", "0")
        limit_bytes = self.limit_of(path)
        if length.isdigit() and int(length) > limit_bytes:
            return _too_large(limit_bytes)
        return None

    def _is_own_host(self, host: str) -> bool:
        name = _split(f"//{host}").hostname or ""
        return name in LOOPBACK_HOSTS or name in self.hosts

    def _is_own_page(self, headers: Headers) -> bool:
        origin = headers.get("origin", "")
        if origin in self.origins:
            return True
        if origin == "null":
            # What a browser sends from our own plain forms, because of our referrer policy.
            return headers.get("sec-fetch-site") == "same-origin"
        if origin and _split(origin).netloc != headers.get("host", ""):
            return False
        return headers.get("sec-fetch-site", "") in _OWN_SITES


def _split(address: str) -> SplitResult:
    """Return the parts of an address; one that is malformed has none."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


class SecurityMiddleware:
    """Applies a perimeter to every request and the headers to every response.

    Args:
        app: What is protected.
        perimeter: Who may send requests.
    """

    def __init__(self, app: ASGIApp, perimeter: Perimeter) -> None:
        self._app = app
        self._perimeter = perimeter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = str(scope["path"])
        send = _with_headers(send, path, is_framed=path in self._perimeter.framed_paths)
        refusal = self._perimeter.refuse(scope["method"], path, Headers(scope=scope))
        if refusal is not None:
            await problem_response(describe_error(refusal))(scope, receive, send)
            return
        limit_bytes = self._perimeter.limit_of(path)
        limited = _Limited(receive, send, limit_bytes)
        with contextlib.suppress(RequestTooLargeError):
            await self._app(scope, limited.receive, limited.send)
        if limited.is_over:
            refusal = _too_large(limit_bytes)
            await problem_response(describe_error(refusal))(scope, receive, send)


class _Limited:
    """Counts a body that does not say its length beforehand.

    What the application answers to a body that was cut off is not sent: frameworks turn the error
    of reading it into an answer of their own.
    """

    def __init__(self, receive: Receive, send: Send, limit_bytes: int) -> None:
        self._receive = receive
        self._send = send
        self._limit_bytes = limit_bytes
        self._received_bytes = 0
        self._has_started = False
        self.is_over = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._received_bytes += len(message.get("body", b""))
        if self._received_bytes > self._limit_bytes and not self._has_started:
            self.is_over = True
            raise _too_large(self._limit_bytes)
        return message

    async def send(self, message: Message) -> None:
        if not self.is_over:
            self._has_started = True
            await self._send(message)


def _too_large(limit_bytes: int) -> RequestTooLargeError:
    return RequestTooLargeError(f"a request may have at most {limit_bytes} bytes")


def _with_headers(send: Send, path: str, *, is_framed: bool) -> Send:
    policy = _DOCS_POLICY if path in _DOCS_PATHS else _POLICY
    usual = _FRAMED_HEADERS if is_framed else _HEADERS

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in usual.items():
                headers.setdefault(name, value)
            headers.setdefault("content-security-policy", policy)
            if not path.startswith("/static/"):
                headers.setdefault("cache-control", "no-store")
        await send(message)

    return send_with_headers
