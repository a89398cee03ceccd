"""What ``vouch up`` itself needs to know, and how it gathers the environment of its children."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from dotenv import dotenv_values
from pydantic import Field
from pydantic_settings import BaseSettings

from cli.environment import names_of_field
from service.settings import ServiceSettings


class UpSettings(ServiceSettings):
    """Settings of the launcher."""

    host: str = Field(default="127.0.0.1", description="Address the pages are served on.")
    port: int = Field(default=8000, ge=0, le=65535, description="Port of the pages and the API.")
    mcp_port: int = Field(default=8001, ge=0, le=65535, description="Port of the tool server.")
    database_url: str = Field(default="", description="Empty: SQLite files in the data folder.")


def gather_environment(dotenv: Path) -> dict[str, str]:
    """Return the shell's variables over those of a ``.env`` file.

    Only the launcher reads ``.env``; its children are handed what is theirs.
    """
    from_file = dotenv_values(dotenv) if dotenv.exists() else {}
    filled = {name: value for name, value in from_file.items() if value}
    return {**filled, **os.environ}


_Settings = TypeVar("_Settings", bound=BaseSettings)


def read_settings(kind: type[_Settings], environment: Mapping[str, str]) -> _Settings:
    """Return a process's settings from a gathered environment instead of the present one.

    Raises:
        ValidationError: A value is out of bounds; the field is named.
    """
    values: dict[str, str] = {}
    for name in kind.model_fields:
        for variable in names_of_field(kind, name):
            if environment.get(variable.upper()):
                values[name] = environment[variable.upper()]
    return kind.model_validate(values)
