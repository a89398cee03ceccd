"""Secrets by file: read when there are any, and never over a variable."""

from __future__ import annotations

from pathlib import Path

from pydantic_settings import SettingsConfigDict

from backend.settings import ApiSettings
from mcp_server.settings import McpSettings


def read_api(folder: Path) -> ApiSettings:
    class Here(ApiSettings):
        model_config = SettingsConfigDict(secrets_dir=folder)

    return Here()


def read_mcp(folder: Path) -> McpSettings:
    class Here(McpSettings):
        model_config = SettingsConfigDict(secrets_dir=folder)

    return Here()


def test_a_secret_is_read_from_the_file_named_like_its_variable(tmp_path: Path) -> None:
    (tmp_path / "vouch_signing_key").write_text("a-key-from-a-file\n")
    (tmp_path / "openai_api_key").write_text("sk-file\n")
    settings = read_api(tmp_path)
    assert settings.signing_key.get_secret_value() == "a-key-from-a-file"
    assert settings.openai_api_key.get_secret_value() == "sk-file"


def test_an_empty_file_means_the_default(tmp_path: Path) -> None:
    (tmp_path / "qdrant_api_key").write_text("")
    (tmp_path / "vouch_database_url").write_text("")
    settings = read_mcp(tmp_path)
    assert not settings.qdrant_api_key.get_secret_value()
    assert settings.database_url is None or not settings.database_url.get_secret_value()


def test_a_value_given_wins_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "vouch_database_url").write_text("postgresql://from-file/x")
    settings = read_api(tmp_path).model_validate({"database_url": "sqlite:///given.db"})
    assert settings.database_url == "sqlite:///given.db"


def test_a_missing_folder_is_no_warning(tmp_path: Path) -> None:
    # Warnings are errors in this suite.
    assert read_api(tmp_path / "absent").port == 8000
