"""Secrets that ``vouch up`` makes when nobody gave them, kept readable by their owner alone."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

SECRET_NAMES = ("VOUCH_MCP_TOKEN", "VOUCH_SIGNING_KEY")
_BYTES = 32
_FILE = "secrets.json"


def ensure_secrets(data_dir: Path, environment: dict[str, str]) -> dict[str, str]:
    """Return the environment with every missing secret filled in.

    Made secrets stay in ``secrets.json`` of the data directory (mode 600), so that a second start
    has the same ones. A value in the environment always wins and is never written down.

    Args:
        data_dir: Directory of this installation; made when absent.
        environment: Variables given by the shell and ``.env``.
    """
    path = data_dir / _FILE
    kept = read_secrets(data_dir)
    missing = [name for name in SECRET_NAMES if name not in kept]
    if missing:
        kept |= {name: secrets.token_urlsafe(_BYTES) for name in missing}
        _write_private(path, json.dumps(kept))
    filled = {name: value for name, value in kept.items() if not environment.get(name)}
    return {**environment, **filled}


def read_secrets(data_dir: Path) -> dict[str, str]:
    """Return the secrets that were made for an installation; none when there are none."""
    path = data_dir / _FILE
    return json.loads(path.read_text()) if path.exists() else {}


def _write_private(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    draft.replace(path)
