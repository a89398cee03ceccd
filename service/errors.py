"""Errors that every process shares.

Tree:
    VouchError
      SettingsError       a setting is missing, malformed or forbidden in this process
      TokenError          a signed token is malformed, forged, expired or of the wrong scope
      BrokerError         the broker cannot be reached, or a message is not of the agreed form
"""

from __future__ import annotations


class VouchError(Exception):
    """Root of every error the project raises on purpose.

    Attributes:
        code: Stable machine-readable name, used on every wire.
    """

    code = "internal_error"


class SettingsError(VouchError):
    """A setting is missing, malformed or forbidden in this process."""

    code = "bad_settings"


class TokenError(VouchError):
    """A signed token is malformed, forged, expired or of the wrong scope."""

    code = "bad_token"


class BrokerError(VouchError):
    """The broker cannot be reached or refuses, or a message is not of the agreed form."""

    code = "broker_unavailable"
