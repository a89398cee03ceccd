"""Settings that every process has; each process adds its own in a subclass, read once at entry."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsConfigDict,
)

SECRETS_DIR = Path("/run/secrets")
"""Where container engines put secrets, a file each, named like the variable in lower case."""

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]


class ServiceSettings(BaseSettings):
    """What each process needs, whatever it does.

    A process never reads ``.env``: ``vouch up`` does, and hands each child its own variables. A
    secret may come by file instead, where the environment would show it to whoever lists processes;
    a variable wins over a file.
    """

    model_config = SettingsConfigDict(
        env_prefix="VOUCH_",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
        secrets_dir=SECRETS_DIR,
    )

    data_dir: Path = Field(default=Path(".data"), description="Builds, vectors, databases, logs.")
    log_level: LogLevel = Field(default="INFO", description="Least level that is logged.")
    log_dir: Path | None = Field(default=None, description="Unset: logs go to standard error.")
    database_timeout_seconds: float = Field(
        default=10.0,
        gt=0.0,
        le=120.0,
        description="Longest one session with the database may take.",
    )
    lifeline: bool = Field(
        default=False, description="Set by the launcher: end when standard input does."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read files only where there is a folder of them: most machines have none."""
        del settings_cls, dotenv_settings
        sources = (init_settings, env_settings)
        return (*sources, file_secret_settings) if _has_files(file_secret_settings) else sources


def _has_files(source: PydanticBaseSettingsSource) -> bool:
    folder = source.secrets_dir if isinstance(source, SecretsSettingsSource) else None
    return isinstance(folder, str | Path) and Path(folder).is_dir()
