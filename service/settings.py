"""Settings that every process has; each process adds its own in a subclass, read once at entry."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]


class ServiceSettings(BaseSettings):
    """What each process needs, whatever it does.

    A process never reads ``.env``: ``vouch up`` does, and hands each child its own variables.
    """

    model_config = SettingsConfigDict(
        env_prefix="VOUCH_",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    data_dir: Path = Field(default=Path(".data"), description="Builds, vectors, databases, logs.")
    log_level: LogLevel = Field(default="INFO", description="Least level that is logged.")
    log_dir: Path | None = Field(default=None, description="Unset: logs go to standard error.")
    lifeline: bool = Field(
        default=False, description="Set by the launcher: end when standard input does."
    )
