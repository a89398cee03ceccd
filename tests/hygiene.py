"""Checks of the tree itself that no linter makes: run by ``make check``.

Lock files carry hashes and no addresses, ``.env.example`` names every setting, modules stay small,
and nothing tracked names a path of one machine.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import cast

from pydantic import SecretStr
from pydantic_settings import BaseSettings

from cli.environment import names_of_field

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = (
    "agent.settings:AgentSettings",
    "backend.settings:ApiSettings",
    "cli.settings:UpSettings",
    "ingestion.settings:IngestionSettings",
    "ingestion.worker_settings:WorkerSettings",
    "mcp_server.settings:McpSettings",
    "retrieval.settings:RetrievalSettings",
    "retrieval.embedding_settings:EmbeddingServiceSettings",
)
LAUNCHER_ONLY = {"VOUCH_LIFELINE"}
MODULE_LIMIT_LINES = 300
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|farm|root|home/\w+)/[a-z]")


def tracked(*patterns: str) -> list[Path]:
    """Return the tracked files that match."""
    listing = subprocess.run(
        ["git", "ls-files", "--", *patterns], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [ROOT / name for name in listing.stdout.splitlines() if (ROOT / name).is_file()]


def lock_faults() -> list[str]:
    """Return lock files that carry an address, and lock files that must not be tracked."""
    faults = [f"{path.name}: not to be tracked" for path in tracked("**/uv.lock", "uv.lock")]
    return faults + [
        f"{path.relative_to(ROOT)}: carries an address"
        for path in tracked("requirements*.lock", "**/package-lock.json")
        if re.search(r"https?://|file://", path.read_text())
    ]


def setting_faults() -> list[str]:
    """Return settings that ``.env.example`` lacks, and names in it that nothing reads."""
    known = {name: value for name, value in defaults().items() if name not in LAUNCHER_ONLY}
    text = (ROOT / ".env.example").read_text()
    listed = dict(re.findall(r"^#? ?([A-Z][A-Z0-9_]+)=(.*)$", text, flags=re.MULTILINE))
    return [
        *(f".env.example lacks {name}={known[name]}" for name in sorted(known.keys() - listed)),
        *(
            f".env.example has {name}, which nothing reads"
            for name in sorted(listed.keys() - known)
        ),
        *(
            f".env.example says {name}={listed[name]}, the code {known[name]}"
            for name in sorted(known.keys() & listed.keys())
            if known[name] != listed[name]
        ),
    ]


def defaults() -> dict[str, str]:
    """Return the default of every environment variable that some process reads."""
    found: dict[str, str] = {}
    for entry in SETTINGS:
        module, _, class_name = entry.partition(":")
        settings: type[BaseSettings] = getattr(importlib.import_module(module), class_name)
        for name, field in settings.model_fields.items():
            for variable in names_of_field(settings, name):
                found[variable] = _shown(field.get_default())
    return found


def _shown(default: object) -> str:
    if isinstance(default, SecretStr):
        return default.get_secret_value()
    if isinstance(default, tuple):
        return ",".join(str(item) for item in cast(tuple[object, ...], default))
    return "" if default is None else str(default)


def text_faults() -> list[str]:
    """Return modules that grew too long, and paths of one machine in tracked text."""
    faults: list[str] = []
    for path in tracked("*.py", "*.md", "*.yaml", "*.yml", "*.toml", "*.sh", "Makefile"):
        text = path.read_text()
        name = path.relative_to(ROOT)
        if path.suffix == ".py" and "tests" not in name.parts:
            lines = text.count("\n")
            if lines > MODULE_LIMIT_LINES:
                faults.append(f"{name}: {lines} lines, more than one noun?")
        if path.name != "hygiene.py" and MACHINE_PATH.search(text):
            faults.append(f"{name}: names a path of one machine")
    return faults


def main() -> int:
    """Print every fault; the exit code says whether there was one."""
    faults = [*lock_faults(), *setting_faults(), *text_faults()]
    sys.stdout.writelines(f"{fault}\n" for fault in faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
