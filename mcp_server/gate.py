"""The gate of this installation, made from settings."""

from __future__ import annotations

from mcp_server.auth import CONTEXT_NAME, GATEWAY_NAME, TokenGate
from mcp_server.settings import McpSettings
from service.errors import SettingsError
from service.tokens import TokenSigner


def open_gate(settings: McpSettings) -> TokenGate:
    """Return the gate.

    Raises:
        SettingsError: Neither a fixed token nor a signing key is set.
    """
    token, key = settings.mcp_token, settings.signing_key
    if token is None and key is None:
        raise SettingsError(
            "set VOUCH_MCP_TOKEN or VOUCH_SIGNING_KEY: without either nobody could call a tool"
        )
    fixed = {} if token is None else {"fixed": token.get_secret_value()}
    if settings.gateway_token is not None:
        fixed[GATEWAY_NAME] = settings.gateway_token.get_secret_value()
    if settings.context_token is not None:
        fixed[CONTEXT_NAME] = settings.context_token.get_secret_value()
    return TokenGate(fixed, None if key is None else TokenSigner(key.get_secret_value()))
