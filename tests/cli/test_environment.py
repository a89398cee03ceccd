"""Each process is handed its own settings and nothing else."""

from __future__ import annotations

from agent.settings import AgentSettings
from backend.settings import ApiSettings
from cli.environment import environment_for, variables_of
from mcp_server.settings import McpSettings

SHELL = {
    "PATH": "/bin",
    "QDRANT_URL": "http://127.0.0.1:6333",
    "QDRANT_API_KEY": "index-secret",
    "OPENAI_API_KEY": "model-secret",
    "OPENAI_BASE_URL": "http://127.0.0.1:9",
    "VOUCH_SIGNING_KEY": "k" * 32,
    "VOUCH_PORT": "8000",
    "SOMETHING_ELSE": "x",
}


def test_api_process_gets_no_index_variable() -> None:
    given = environment_for([ApiSettings, AgentSettings], SHELL)
    assert not [name for name in given if name.startswith("QDRANT")]
    assert given["OPENAI_API_KEY"] == "model-secret"
    assert given["VOUCH_PORT"] == "8000"


def test_tool_server_gets_no_model_variable() -> None:
    given = environment_for([McpSettings], SHELL)
    assert not [name for name in given if name.startswith("OPENAI")]
    assert given["QDRANT_API_KEY"] == "index-secret"


def test_unknown_variables_reach_nobody_and_the_system_ones_everybody() -> None:
    for settings in (ApiSettings, McpSettings):
        given = environment_for([settings], SHELL)
        assert "SOMETHING_ELSE" not in given
        assert given["PATH"] == "/bin"


def test_variables_follow_aliases_and_prefix() -> None:
    names = variables_of(AgentSettings)
    assert {"OPENAI_API_KEY", "OPENAI_BASE_URL", "VOUCH_MODEL"} <= names
    assert "VOUCH_OPENAI_API_KEY" not in names
