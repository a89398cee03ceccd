"""Who is calling: a fixed token for search, or claims signed for one branch of one ask.

Labels, build and source come from here and from nowhere else: no argument of a tool can widen what
its caller may see.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken

from mcp_server.errors import NotAuthorisedError
from service.errors import TokenError
from service.tokens import Branch, Claims, Scope, TokenSigner

GATEWAY_NAME = "gateway"
"""Name of the fixed token of an agent gateway: its calls are told apart by it and by their time."""

CONTEXT_NAME = "context"
"""Name of the fixed token that opens the context tools, and nothing else."""

SIGNED = "signed"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call.

    Attributes:
        name: A fixed token's own name, or ``signed`` with the subject of the claims.
    """

    name: str
    claims: Claims

    @property
    def rate_key(self) -> str:
        """Whose calls are counted together: one ask's, or one fixed token's.

        Empty for the API's own calls outside an ask, which it limits by its own callers.
        """
        if self.claims.branch == "service":
            return ""
        return self.claims.ask_id or ("" if self.name == SIGNED else self.name)


class GrantedToken(AccessToken):
    """An accepted token with its caller."""

    caller: Caller


class TokenGate:
    """Accepts or refuses bearer tokens; implements the SDK's ``TokenVerifier``.

    Args:
        fixed_tokens: Name to token, each for search outside an ask, or for the context tools.
        signer: Verifies signed tokens; None accepts none.
        clock: Returns Unix time in seconds.
    """

    def __init__(
        self,
        fixed_tokens: Mapping[str, str],
        signer: TokenSigner | None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._fixed = {name: token.encode() for name, token in fixed_tokens.items()}
        self._signer = signer
        self._clock = clock

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return what the token grants, or None when it is no token of this installation."""
        caller = self._fixed_caller(token) or self._signed_caller(token)
        if caller is None:
            return None
        scopes: list[str] = list(caller.claims.scopes)
        return GrantedToken(token=token, client_id=caller.name, scopes=scopes, caller=caller)

    def _fixed_caller(self, token: str) -> Caller | None:
        given = token.encode()
        found: Caller | None = None
        # Every token is compared, so that the time taken does not tell which one was close.
        for name, expected in self._fixed.items():
            if hmac.compare_digest(given, expected):
                branch: Branch = "gateway" if name == GATEWAY_NAME else "direct"
                opens: Scope = "context" if name == CONTEXT_NAME else "search"
                found = Caller(name, Claims(ask_id="", branch=branch, scopes=(opens,)))
        return found

    def _signed_caller(self, token: str) -> Caller | None:
        if self._signer is None:
            return None
        try:
            claims = self._signer.verify(token, now=self._clock())
        except TokenError:
            return None
        name = f"{SIGNED}:{claims.subject}" if claims.subject else SIGNED
        return Caller(name=name, claims=claims)


def current_caller() -> Caller:
    """Return who makes the present call.

    Raises:
        NotAuthorisedError: The call did not come through the token gate.
    """
    token = get_access_token()
    if not isinstance(token, GrantedToken):
        raise NotAuthorisedError("the call carries no accepted token")
    return token.caller
