"""Who may change the index: holders of the admin key, or this machine's own user without one."""

from __future__ import annotations

import hashlib
import hmac
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request

from backend.caller import Caller
from backend.errors import AdminRequiredError
from backend.settings import LOOPBACK_HOSTS

COOKIE = "vouch_admin"
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


class AdminRule:
    """Decides about one request.

    Args:
        token: The admin key; empty means that only callers on a loopback socket are served.
    """

    def __init__(self, token: str) -> None:
        self._token = token

    @property
    def has_token(self) -> bool:
        """Whether there is a key to give."""
        return bool(self._token)

    def require(self, request: Request) -> None:
        """Do nothing when the sender may change the index.

        Raises:
            AdminRequiredError: The key is missing or wrong, or there is none and the request does
                not come straight from this machine.
        """
        caller = request.state.caller
        if isinstance(caller, Caller) and caller.has_key and caller.may("ingest"):
            return
        if not self._token:
            if not is_local(request):
                raise AdminRequiredError(
                    "without VOUCH_ADMIN_TOKEN only this machine itself may do this"
                )
            return
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.accepts(given.strip()):
            return
        cookie = request.cookies.get(COOKIE, "")
        if not hmac.compare_digest(cookie.encode(), self.cookie().encode()):
            raise AdminRequiredError("the admin key is needed: Authorization: Bearer <key>")

    def accepts(self, given: str) -> bool:
        """Whether this is the key."""
        return bool(self._token) and hmac.compare_digest(given.encode(), self._token.encode())

    def cookie(self) -> str:
        """Return what a browser keeps after the key was given: a digest, never the key."""
        return hmac.new(self._token.encode(), b"vouch-admin-cookie", hashlib.sha256).hexdigest()


def is_local(request: Request) -> bool:
    """Whether a request came over a loopback socket, past no proxy, from no foreign page."""
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    origin = request.headers.get("origin", "")
    # Our own plain forms send "null", because of our referrer policy.
    is_own_form = origin == "null" and request.headers.get("sec-fetch-site") == "same-origin"
    try:
        is_loopback = ip_address(request.client.host).is_loopback
        host = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
        origin_host = host if not origin or is_own_form else urlsplit(origin).hostname or ""
    except ValueError:
        return False
    return is_loopback and host in LOOPBACK_HOSTS and origin_host in LOOPBACK_HOSTS


def require_admin(request: Request) -> None:
    """Let only those through who may change the index."""
    rule = request.app.state.admin
    if not isinstance(rule, AdminRule):
        raise TypeError("app.state.admin holds the rule")
    rule.require(request)


AdminOnly = Annotated[None, Depends(require_admin)]
