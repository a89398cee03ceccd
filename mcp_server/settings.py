"""Settings of the tool server, read once at its entry."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from retrieval.settings import RetrievalSettings

_LOOPBACK = ("127.0.0.1", "127.0.0.1:*", "localhost", "localhost:*", "[::1]", "[::1]:*")


class McpSettings(RetrievalSettings):
    """Address, tokens and limits of the tool server, over the settings of the index it owns.

    There is no setting for a model key: this process never speaks to a language model.
    """

    mcp_host: str = Field(default="127.0.0.1", description="Address to listen on.")
    mcp_port: int = Field(default=8001, ge=0, le=65535, description="Port to listen on.")
    mcp_token: SecretStr | None = Field(
        default=None, description="Fixed bearer token for search; unset means none is accepted."
    )
    gateway_token: SecretStr | None = Field(
        default=None,
        description="Fixed bearer token of an agent gateway that cannot pass a token per ask.",
    )
    context_token: SecretStr | None = Field(
        default=None, description="Fixed bearer token for the context tools; unset: none."
    )
    context_price_per_million_tokens: float = Field(
        default=3.0, ge=0.0, description="Price of a million tokens, for reported savings."
    )
    context_tokens_per_day: int = Field(
        default=20_000_000, ge=1, description="Tokens one caller may pass through in a day."
    )
    context_calls_per_day: int = Field(
        default=100_000, ge=1, description="Calls of context tools one caller may make in a day."
    )
    context_tokens_per_run: int = Field(
        default=2_000_000, ge=1, description="Tokens one run of a caller may pass through."
    )
    context_calls_per_run: int = Field(
        default=2_000, ge=1, description="Calls of context tools one run of a caller may make."
    )
    signing_key: SecretStr | None = Field(
        default=None,
        description="Key shared with the API; unset means no signed token is accepted.",
    )
    mcp_allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=_LOOPBACK, description="Host headers accepted, comma-separated; host:* is any port."
    )
    mcp_allowed_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Origin headers accepted, comma-separated; none by default."
    )
    mcp_body_limit_bytes: int = Field(
        default=1_048_576, ge=1024, le=67_108_864, description="Longest request body."
    )
    mcp_call_timeout_seconds: float = Field(
        default=20.0, gt=0, le=300, description="Longest time one tool call may take."
    )
    mcp_calls_per_minute: int = Field(
        default=600, ge=1, le=1_000_000, description="Tool calls one caller may make in a minute."
    )
    redis_url: SecretStr | None = Field(
        default=None,
        description="Redis that holds the limits of several processes; unset: each has its own.",
    )
    mcp_concurrent_calls: int = Field(
        default=32, ge=1, le=1024, description="Tool calls that run at the same time."
    )
    mcp_waiting_calls: int = Field(
        default=256, ge=0, le=65536, description="Tool calls that may wait for their turn."
    )
    retention_days: int = Field(
        default=0, ge=0, le=36_500, description="Recorded questions are deleted after; 0: never."
    )
    mcp_log_arguments: bool = Field(
        default=False, description="Whether log lines hold tool arguments, and so questions."
    )
    record_policy: Literal["refuse", "spool"] = Field(
        default="refuse",
        description="When the database is down: refuse calls, or keep their audit rows in memory.",
    )
    database_url: SecretStr | None = Field(
        default=None, description="PostgreSQL for the audit; unset means SQLite in the data folder."
    )

    @field_validator("mcp_allowed_hosts", "mcp_allowed_origins", mode="before")
    @classmethod
    def _split(cls, given: object) -> object:
        if isinstance(given, str):
            return tuple(part.strip() for part in given.split(",") if part.strip())
        return given
