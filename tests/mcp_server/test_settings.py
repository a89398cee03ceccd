"""Settings of the tool server from the environment to their effect."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from mcp_server.app import create_app
from mcp_server.settings import McpSettings
from service.errors import SettingsError
from tests.environment import environment
from tests.mcp_server.fakes import FakeOpener, FakeSink


def test_values_come_from_the_environment() -> None:
    with environment(
        VOUCH_MCP_PORT="9001",
        VOUCH_MCP_TOKEN="secret-token",
        VOUCH_MCP_ALLOWED_HOSTS="docs.example:443, mcp:* ",
    ):
        settings = McpSettings()
    assert settings.mcp_port == 9001
    assert settings.mcp_token is not None
    assert settings.mcp_token.get_secret_value() == "secret-token"
    assert settings.mcp_allowed_hosts == ("docs.example:443", "mcp:*")
    assert "secret-token" not in repr(settings)


def test_there_is_no_setting_for_a_model_key() -> None:
    with environment(OPENAI_API_KEY="sk-very-secret"):
        dumped = repr(McpSettings().model_dump())
    assert "sk-very-secret" not in dumped
    assert not [name for name in McpSettings.model_fields if "openai" in name]


def test_a_number_out_of_its_bounds_is_refused() -> None:
    with environment(VOUCH_MCP_CALLS_PER_MINUTE="0"), pytest.raises(ValidationError):
        McpSettings()


def test_a_server_nobody_could_call_does_not_start() -> None:
    with environment(), pytest.raises(SettingsError, match="VOUCH_MCP_TOKEN"):
        create_app(McpSettings(), opener=FakeOpener(), sink=FakeSink())
