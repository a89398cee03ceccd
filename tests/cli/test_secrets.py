"""Secrets are made once, kept private, and never override what was given."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from cli.secrets import SECRET_NAMES, ensure_secrets


def test_missing_secrets_are_made_once_and_kept_private(tmp_path: Path) -> None:
    first = ensure_secrets(tmp_path, {})
    again = ensure_secrets(tmp_path, {})
    assert first == again
    assert all(len(first[name]) >= 32 for name in SECRET_NAMES)
    assert len({first[name] for name in SECRET_NAMES}) == len(SECRET_NAMES)
    assert stat.S_IMODE((tmp_path / "secrets.json").stat().st_mode) == 0o600


def test_given_secret_wins_and_is_not_written_down(tmp_path: Path) -> None:
    given = {"VOUCH_MCP_TOKEN": "from-the-shell"}
    assert ensure_secrets(tmp_path, given)["VOUCH_MCP_TOKEN"] == "from-the-shell"
    assert "from-the-shell" not in json.loads((tmp_path / "secrets.json").read_text()).values()
