"""``vouch keys mcp-token``: tokens for agents that call the tool server themselves."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import Field, SecretStr
from rich.text import Text

from cli.console import err, out
from cli.keys import KeyCommandError
from cli.secrets import ensure_secrets
from cli.settings import gather_environment, read_settings
from service.settings import ServiceSettings
from service.tokens import Claims, Scope, TokenSigner

_DAY_SECONDS = 86_400.0
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_SCOPES: dict[str, Scope] = {"search": "search", "context": "context"}


class _TokenSettings(ServiceSettings):
    """The key that API and tool server share."""

    signing_key: SecretStr = Field(default=SecretStr(""))


def run_mcp_token(name: str, *, scope: str, labels: Sequence[str], source: str, days: int) -> None:
    """Sign a token and print it.

    Raises:
        KeyCommandError: The name or the scope is not one.
        TokenError: The signing key is too short.
    """
    environment = gather_environment(Path(".env"))
    settings = read_settings(_TokenSettings, environment)
    if not settings.signing_key.get_secret_value():
        settings = read_settings(_TokenSettings, ensure_secrets(settings.data_dir, environment))
    claims = make_claims(name, scope=scope, labels=labels, source=source)
    expires_at = time.time() + days * _DAY_SECONDS
    signer = TokenSigner(settings.signing_key.get_secret_value())
    err.print(f"token of {name}: {scope}, for {days} days; it is shown this once")
    out.print(Text(signer.sign(replace(claims, expires_at=expires_at))), soft_wrap=True)


def make_claims(name: str, *, scope: str, labels: Sequence[str], source: str = "") -> Claims:
    """Return what the token of an agent says.

    Raises:
        KeyCommandError: The name or the scope is not one.
    """
    if not _NAME.fullmatch(name):
        raise KeyCommandError("a name has letters, digits, points and dashes, 64 at most")
    if scope not in _SCOPES:
        raise KeyCommandError(f"unknown scope {scope}; known: {', '.join(_SCOPES)}")
    return Claims(
        ask_id="",
        branch="direct",
        scopes=(_SCOPES[scope],),
        labels=tuple(sorted(set(labels))),
        source=source,
        subject=f"mcp-{name}",
    )
