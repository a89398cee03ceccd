"""Settings of the API process, read once at its entry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import NoDecode

from agent.settings import AgentSettings
from backend.asking.queued_settings import QueuedAskSettings
from backend.edge.proxies import ProxyHeader, TrustedProxies, read_networks
from backend.intake.hook_settings import HookSettings
from service.errors import SettingsError
from service.rate import Rate

DEFAULT_ABSTENTION_SENTENCE = "I could not find this in the documentation."

GuardModeSetting = Literal["auto", "fixed", "calibrated"]
AskMode = Literal["concurrent", "guard_first"]
RecordPolicy = Literal["refuse", "spool"]
SupportPolicy = Literal["mark", "drop", "refuse"]
_REQUESTS_PER_MINUTE = 300
# Nothing else gets into a header: the origins are part of a policy that browsers obey.
_ORIGIN = re.compile(r"https?://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})


class ApiSettings(AgentSettings, QueuedAskSettings, HookSettings):
    """What the API needs, its agent included.

    It has no way to the index, and refuses to be given one.
    """

    env: Literal["dev", "prod"] = Field(
        default="dev", description="In dev /docs and /redoc are served; in prod they are not."
    )
    host: str = Field(default="127.0.0.1", description="Address the pages are served on.")
    port: int = Field(default=8000, ge=0, le=65535, description="Port of the pages and the API.")
    mcp_url: str = Field(default="http://127.0.0.1:8001", description="Where the tool server is.")
    signing_key: SecretStr = Field(
        default=SecretStr(""), description="Shared with the tool server; at least 16 bytes."
    )
    database_url: str = Field(default="", description="Empty: a SQLite file in the data folder.")
    allowed_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        validation_alias="ALLOWED_ORIGINS",
        description="Foreign pages that may call the API, separated by commas; empty: none.",
    )
    widget_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Origins whose pages may show the widget, separated by commas; empty: none.",
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Names the service is reached by beside loopback."
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Addresses or networks of the proxies in front, separated by commas; "
        "what others say of a sender is not believed.",
    )
    proxy_header: ProxyHeader = Field(
        default="x-forwarded-for", description="The header the proxies set: this or forwarded."
    )
    anonymous_ask: bool | None = Field(
        default=None,
        description="Whether asking needs no key; unset: only where this machine alone can ask.",
    )
    abstention_score_threshold: float | None = Field(
        default=None,
        ge=-1.0,
        le=1.0,
        validation_alias="ABSTENTION_SCORE_THRESHOLD",
        description="Floor on the best cosine in every guard mode; unset: the model's default.",
    )
    abstention_sentence: str = Field(
        default=DEFAULT_ABSTENTION_SENTENCE,
        min_length=1,
        max_length=300,
        description="The whole answer of a refusal.",
    )
    guard_mode: GuardModeSetting = Field(
        default="auto", description="auto: calibrated with a usable artefact, else fixed."
    )
    ask_mode: AskMode = Field(
        default="concurrent",
        description="guard_first: no call to the model before the guard has passed.",
    )
    support_policy: SupportPolicy = Field(
        default="mark", description="What becomes of sentences the evidence does not support."
    )
    record_policy: RecordPolicy = Field(
        default="refuse",
        description="When the database is down: refuse with 503, or spool to disk and say so.",
    )
    retention_days: int = Field(
        default=0, ge=0, le=36_500, description="Recorded questions are deleted after; 0: never."
    )
    shadow_share: float = Field(
        default=0.0,
        ge=0.0,
        le=1.0,
        description="Share of guard refusals whose agent finishes unseen, to count mistakes.",
    )
    request_timeout_seconds: float = Field(
        default=60.0, gt=0.0, le=600.0, description="Longest an ask may take, waiting included."
    )
    knowledge_timeout_seconds: float = Field(
        default=10.0, gt=0.0, le=120.0, description="Longest one call to the tool server may take."
    )
    max_running_asks: int = Field(default=16, ge=1, le=1000, description="Asks worked on at once.")
    max_waiting_asks: int = Field(
        default=64, ge=0, le=10000, description="Asks waiting for a place; the rest get 503."
    )
    requests_per_minute_per_key: int = Field(
        default=300, ge=0, le=1_000_000, description="Requests a key may make; 0: no limit."
    )
    requests_per_minute_per_address: int | None = Field(
        default=None,
        ge=0,
        le=1_000_000,
        description="Requests an address may make; 0: no limit; unset: 300, "
        "and none where only this machine can ask.",
    )
    daily_tokens: int = Field(
        default=0,
        ge=0,
        le=10**15,
        description="Model tokens a UTC day, all callers together; 0: no budget.",
    )
    redis_url: SecretStr = Field(
        default=SecretStr(""),
        description="Redis that holds the limits of several processes; empty: each has its own.",
    )
    request_limit_bytes: int = Field(
        default=64 * 1024, ge=1024, le=16 * 1024 * 1024, description="Largest request body."
    )

    admin_token: SecretStr = Field(
        default=SecretStr(""),
        description="Key for changing the index; empty: only this machine itself may.",
    )
    ingest_roots: str = Field(
        default="", description="Folders that paths must be in, comma separated; empty: any."
    )
    upload_limit_bytes: int = Field(
        default=64 * 1024 * 1024, ge=1024, description="Largest upload, all files together."
    )

    @field_validator(
        "allowed_origins", "widget_origins", "allowed_hosts", "trusted_proxies", mode="before"
    )
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part for item in value.split(",") if (part := item.strip()))
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _check_proxies(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        read_networks(value)
        return value

    @field_validator("allowed_origins", "widget_origins")
    @classmethod
    def _check_origins(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        name = "ALLOWED_ORIGINS" if info.field_name == "allowed_origins" else "VOUCH_WIDGET_ORIGINS"
        for origin in value:
            if "*" in origin:
                raise ValueError(f"{name} may not hold `*`: name each origin")
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(f"{name}: {origin!r} is not like https://host[:port]")
        return value

    @property
    def job_roots(self) -> tuple[Path, ...]:
        """Folders that jobs may read, beside uploads."""
        listed = (part.strip() for part in self.ingest_roots.split(","))
        return tuple(Path(part).expanduser() for part in listed if part)

    @property
    def uploads_dir(self) -> Path:
        """Where uploaded files are kept, a folder for each source."""
        return self.data_dir / "uploads"

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the service.

        A further name means a proxy in front, behind which everybody comes from loopback.
        """
        return self.host in LOOPBACK_HOSTS and not self.allowed_hosts

    @property
    def proxies(self) -> TrustedProxies:
        """The proxies in front of the service."""
        return TrustedProxies(read_networks(self.trusted_proxies), self.proxy_header)

    @property
    def key_rate(self) -> Rate | None:
        """How often a key may ask; None for no limit."""
        limit = self.requests_per_minute_per_key
        return Rate(limit) if limit else None

    @property
    def address_rate(self) -> Rate | None:
        """How often an address may ask; None for no limit."""
        limit = self.requests_per_minute_per_address
        if limit is None:
            limit = 0 if self.is_local else _REQUESTS_PER_MINUTE
        return Rate(limit) if limit else None

    @property
    def is_anonymous_allowed(self) -> bool:
        """Whether asking needs no key."""
        return self.is_local if self.anonymous_ask is None else self.anonymous_ask


def load_settings(environment: Mapping[str, str]) -> ApiSettings:
    """Read the settings of this process.

    Args:
        environment: The process's environment variables, for the check below.

    Raises:
        SettingsError: A setting is missing or malformed, or the environment holds a way to the
            index: that the API cannot reach it is a matter of what it is given.
    """
    forbidden = sorted(
        name
        for name, value in environment.items()
        if value and name.upper() in {"QDRANT_URL", "QDRANT_API_KEY"}
    )
    if forbidden:
        raise SettingsError(
            f"{' and '.join(forbidden)} set in the API's environment: the API must have no way to "
            "the index; give these to the tool server only, or start everything with `vouch up`"
        )
    try:
        settings = ApiSettings()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"{name}: {first['msg']}") from error
    if not settings.signing_key.get_secret_value():
        raise SettingsError(
            "VOUCH_SIGNING_KEY is not set: the API and the tool server share it; "
            "`vouch up` makes one"
        )
    return settings
