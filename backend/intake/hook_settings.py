"""Settings of webhooks."""

from __future__ import annotations

from pydantic import Field, SecretStr, field_validator

from service.settings import ServiceSettings

_LEAST_BYTES = 16


class HookSettings(ServiceSettings):
    """Who may say that a source has changed."""

    webhook_secret: SecretStr = Field(
        default=SecretStr(""),
        description="Shared with who signs webhooks, at least 16 bytes; empty: none is taken.",
    )
    webhook_window_seconds: float = Field(
        default=300.0, gt=0, le=86400, description="Oldest signed webhook that is taken."
    )

    @field_validator("webhook_secret")
    @classmethod
    def _check_secret(cls, value: SecretStr) -> SecretStr:
        if 0 < len(value.get_secret_value().encode()) < _LEAST_BYTES:
            raise ValueError(f"VOUCH_WEBHOOK_SECRET needs at least {_LEAST_BYTES} bytes")
        return value
