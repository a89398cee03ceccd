"""Lets a request in by its key, and refuses every path that its caller has no scope for.

It stands before the routes, so that a new route is closed until somebody opens it. A key comes as
``Authorization: Bearer KEY``, or, because a browser cannot send that by itself, as the password of
``Authorization: Basic``.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from typing import Protocol

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.caller import LOCAL, Caller, CallerScope
from backend.edge.rates import RequestRates
from backend.errors import NotAuthenticatedError, ScopeMissingError
from service.errors import VouchError
from storage.keys import ApiKeyRecord

_OPEN_PATHS = frozenset({"/healthz", "/readyz", "/.well-known/agent-card.json"})
_KEY_NAME = "key-"
_OPEN_PREFIX = "/static/"
# Webhooks carry a signature in place of a key.
_SIGNED_PREFIX = "/hooks/"
# The longest prefix that fits decides; everything else needs ``ask``.
_SCOPES: tuple[tuple[str, CallerScope], ...] = (
    ("/metrics", "metrics"),
    ("/api/v1/ingestion", "ingest"),
    ("/api/v1/admin", "admin"),
    # What everybody asked, and what became of it.
    *((path, "review") for path in ("/history", "/labelled.zip", "/quality", "/what-if")),
    *((path, "review") for path in ("/gaps", "/gaps.jsonl")),
)
DOCUMENT_PATH = "/openapi.json"
"""The API document; in production it needs a key even where asking needs none."""


class KeyVerifier(Protocol):
    """Knows which keys are valid. Raises ``StorageError`` when it cannot look."""

    async def verify(self, key: str) -> ApiKeyRecord | None:
        """Return the record of a key that is valid now, or None."""
        ...

    async def still_valid(self, key_id: str) -> ApiKeyRecord | None:
        """Return the record of a key that was shown earlier and is valid now, or None."""
        ...


Answer = Callable[[Request, VouchError], Awaitable[Response]]


def scope_of(path: str) -> CallerScope | None:
    """Return the scope a path needs; None for the open ones."""
    if path in _OPEN_PATHS or path.startswith((_OPEN_PREFIX, _SIGNED_PREFIX)):
        return None
    for start, scope in _SCOPES:
        if path == start or path.startswith(f"{start}/"):
            return scope
    return "ask"


def key_in(authorization: str) -> str | None:
    """Return the key in an ``Authorization`` header; None when there is no such header.

    A header of another kind counts as a wrong key: who sends one means to be somebody.
    """
    kind, _, value = authorization.strip().partition(" ")
    if not kind:
        return None
    if kind.lower() == "bearer":
        return value.strip()
    if kind.lower() != "basic":
        return ""
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""


class Gate:
    """Says who sent a request and whether they may.

    Args:
        keys: Knows which keys are valid.
        without_key: Whom a request without a key comes from; None: nobody, it is refused.
        admin_token: The admin key of the settings, good for everything; empty for none.
        key_only: Paths that need a key even where asking needs none.
    """

    def __init__(
        self,
        keys: KeyVerifier,
        without_key: Caller | None,
        *,
        admin_token: str = "",
        key_only: Collection[str] = (),
    ) -> None:
        self._keys = keys
        self._without_key = without_key
        self._admin_token = admin_token
        self._key_only = key_only

    async def admit(self, path: str, authorization: str) -> Caller | None:
        """Return the caller of a request; None on an open path.

        Raises:
            NotAuthenticatedError: A key is needed, or the one given is not valid.
            ScopeMissingError: The caller may not use this path.
            StorageError: The key cannot be looked up.
        """
        scope = scope_of(path)
        if scope is None:
            return None
        key = key_in(authorization)
        if key is None and scope == "ingest":
            # These routes have a rule of their own, which also knows the cookie of a browser.
            return self._without_key
        caller = await self._identify(key)
        if key is None and not caller.may(scope):
            # A browser asks for a key when it is told so.
            raise NotAuthenticatedError(f"this needs a key with the scope {scope}")
        if path in self._key_only and not caller.has_key:
            raise NotAuthenticatedError("this needs an API key")
        if not caller.may(scope):
            raise ScopeMissingError(f"this needs a key with the scope {scope}")
        return caller

    async def _identify(self, key: str | None) -> Caller:
        if key is None:
            if self._without_key is None:
                raise NotAuthenticatedError("this service needs an API key")
            return self._without_key
        if self._admin_token and hmac.compare_digest(key.encode(), self._admin_token.encode()):
            return Caller(name="admin", scopes=frozenset({"admin"}), has_key=True)
        record = await self._keys.verify(key)
        if record is None and self._without_key is LOCAL:
            # Chat clients always send some key, and here none is needed.
            return LOCAL
        if record is None:
            raise NotAuthenticatedError("the API key is not valid")
        return _caller_of(record)

    async def recheck(self, caller: Caller) -> Caller:
        """Return somebody who was let in earlier, with what holds now.

        A label granted since does not count: the question was asked without it.

        Raises:
            NotAuthenticatedError: Their key is not valid any more, or a key is needed now.
            ScopeMissingError: Their key is not for asking any more.
            StorageError: The key cannot be looked up.
        """
        if not caller.has_key:
            if self._without_key is None:
                raise NotAuthenticatedError("this service needs an API key")
            return caller
        if not caller.name.startswith(_KEY_NAME):
            return caller
        record = await self._keys.still_valid(caller.name.removeprefix(_KEY_NAME))
        if record is None:
            raise NotAuthenticatedError("the API key is not valid any more")
        present = _caller_of(record)
        if not present.may("ask"):
            raise ScopeMissingError("the API key is not for asking any more")
        labels = tuple(label for label in caller.labels if label in present.labels)
        return replace(present, labels=labels)


def _caller_of(record: ApiKeyRecord) -> Caller:
    return Caller(
        name=f"{_KEY_NAME}{record.id}",
        labels=tuple(record.labels),
        scopes=frozenset(record.scopes),
        daily_tokens=record.daily_tokens,
        has_key=True,
    )


class GateServices(Protocol):
    """What the gate needs of the opened services."""

    @property
    def gate(self) -> Gate:
        """Says who sent a request."""
        ...

    @property
    def rates(self) -> RequestRates:
        """Says how often they may."""
        ...


class GateMiddleware:
    """Applies the gate and the rates of the opened services to every request.

    Args:
        app: The routes.
        answer: Turns a refusal into a response.
    """

    def __init__(self, app: ASGIApp, answer: Answer) -> None:
        self._app = app
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        authorization = Headers(scope=scope).get("authorization", "")
        services: GateServices = scope["app"].state.services
        path, headers = str(scope["path"]), dict[str, str]()
        try:
            if scope_of(path) is not None or path.startswith(_SIGNED_PREFIX):
                headers |= await services.rates.count_address(_address(scope))
            caller = await services.gate.admit(path, authorization)
            if caller is not None:
                headers |= await services.rates.count_caller(caller)
        except VouchError as error:
            response = await self._answer(Request(scope, receive), error)
            await response(scope, receive, send)
            return
        scope.setdefault("state", {})["caller"] = caller
        await self._app(scope, receive, _with_headers(send, headers))


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    if not headers:
        return send

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            sent = MutableHeaders(scope=message)
            for name, value in headers.items():
                sent.setdefault(name, value)
        await send(message)

    return send_with_headers
