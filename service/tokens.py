"""Short-lived signed tokens that say for which ask, branch and labels a call is made.

The API signs one token per branch of an ask; the tool server verifies it without keeping state and
writes the claims to every audit row. A token is ``base64url(json) + "." + base64url(hmac)``, with
HMAC-SHA256 over the first part: enough for two parties that share one key, and nothing to parse
but JSON.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from service.errors import TokenError

Branch = Literal["agent", "guard", "gateway", "direct", "service"]
Scope = Literal["search", "service", "context"]

_MINIMUM_KEY_BYTES = 16


@dataclass(frozen=True, slots=True)
class Claims:
    """What a caller of the tool server may do, and for whom.

    Attributes:
        ask_id: The ask the call belongs to; empty for calls outside an ask.
        branch: Which part of the ask is calling.
        scopes: Tool sets the caller may use.
        labels: Access labels granted; chunks with a label outside this set are invisible.
            Chunks without labels are public.
        build: Index build the call is pinned to; empty means the one in force.
        source: The one source the caller may see; empty means any. Wins over every argument.
        expires_at: Unix time in seconds after which the token is refused.
        subject: Whose key the token was exchanged for; empty when it stands for no one's.
    """

    ask_id: str
    branch: Branch
    scopes: tuple[Scope, ...]
    labels: tuple[str, ...] = ()
    build: str = ""
    source: str = ""
    expires_at: float = 0.0
    subject: str = ""


class TokenSigner:
    """Signs and verifies claims with one shared key.

    Args:
        key: At least 16 bytes of secret, the same in the API and the tool server.

    Raises:
        TokenError: The key is too short.
    """

    def __init__(self, key: str) -> None:
        if len(key.encode()) < _MINIMUM_KEY_BYTES:
            raise TokenError(f"the signing key needs at least {_MINIMUM_KEY_BYTES} bytes")
        self._key = key.encode()

    def sign(self, claims: Claims) -> str:
        """Return the token for these claims."""
        body = _encode(json.dumps(asdict(claims), separators=(",", ":")).encode())
        return f"{body}.{self._mac(body)}"

    def verify(self, token: str, *, now: float) -> Claims:
        """Return the claims of a token.

        Args:
            token: What ``sign`` returned.
            now: Present Unix time in seconds.

        Raises:
            TokenError: The token is malformed, was not signed with this key, or has expired.
        """
        body, separator, mac = token.partition(".")
        if not separator or not hmac.compare_digest(mac.encode(), self._mac(body).encode()):
            raise TokenError("the token was not signed by this installation")
        claims = _parse(body)
        if claims.expires_at <= now:
            raise TokenError("the token has expired")
        return claims

    def _mac(self, body: str) -> str:
        return _encode(hmac.digest(self._key, body.encode(), hashlib.sha256))


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _parse(body: str) -> Claims:
    try:
        fields = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        claims = Claims(
            ask_id=str(fields["ask_id"]),
            branch=fields["branch"],
            scopes=tuple(fields["scopes"]),
            labels=tuple(fields["labels"]),
            build=str(fields["build"]),
            source=str(fields["source"]),
            expires_at=float(fields["expires_at"]),
            subject=str(fields.get("subject", "")),
        )
    except (binascii.Error, ValueError, KeyError, TypeError) as error:
        raise TokenError("the token's claims are malformed") from error
    if claims.branch not in get_args(Branch) or not set(claims.scopes) <= set(get_args(Scope)):
        raise TokenError("the token names an unknown branch or scope")
    return claims
