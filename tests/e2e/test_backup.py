"""Backup, wipe, restore into a second folder: the same answers and the same records."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from storage import migrate
from tests.e2e.installation import CORPUS, ROOT, Installation
from tests.storage.conftest import temporary_postgres

# Several processes are started, which takes long on a busy machine.
pytestmark = pytest.mark.timeout(400)

QUESTIONS = ("How do I rotate the signing key?", "How long are backups kept?", "What is a prime?")
# What two asks of one question share, whenever and with whichever ids they were asked.
SAME = ("status", "answer", "citations", "retrieved_chunks", "guard", "fidelity", "index")


def vouch(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli.main", *arguments],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def ask_all(made: Installation, **environment: str) -> list[dict[str, Any]]:
    made.mcp.environment = {**made.mcp.environment, **environment}
    made.mcp.start()
    api = made.api(**environment)
    try:
        api.start()
        with httpx.Client(timeout=60, trust_env=False) as client:
            return [
                client.post(f"{api.url}/ask", json={"question": question}).json()
                for question in QUESTIONS
            ]
    finally:
        api.stop()
        made.mcp.stop()


def permalinks(made: Installation, ids: list[str], **environment: str) -> list[Any]:
    api = made.api(**environment)
    try:
        api.start()
        with httpx.Client(timeout=60, trust_env=False) as client:
            return [client.get(f"{api.url}/asks/{ask_id}/record").json() for ask_id in ids]
    finally:
        api.stop()


def check_round(folder: Path, first_url: dict[str, str], second_url: dict[str, str]) -> None:
    first = Installation(folder / "first")
    first.folder.mkdir()
    for url in first_url.values():
        migrate.upgrade(url)
    if not first_url:
        first.migrate()
    first.ingest(CORPUS)
    asked = ask_all(first, **first_url)
    ids = [body["id"] for body in asked]
    records = permalinks(first, ids, **first_url)
    backup = folder / "backup"
    kept = vouch("backup", str(backup), VOUCH_DATA_DIR=str(first.folder), **first_url)
    assert kept.returncode == 0, kept.stderr
    again = vouch("backup", str(backup), VOUCH_DATA_DIR=str(first.folder), **first_url)
    assert "backup_failed" in again.stderr
    shutil.rmtree(first.folder)

    second = Installation(folder / "second")
    back = vouch("restore", str(backup), VOUCH_DATA_DIR=str(second.folder), **second_url)
    assert back.returncode == 0, back.stderr
    twice = vouch("restore", str(backup), VOUCH_DATA_DIR=str(second.folder), **second_url)
    assert "backup_failed" in twice.stderr
    assert permalinks(second, ids, **second_url) == records
    for before, after in zip(asked, ask_all(second, **second_url), strict=True):
        assert {name: before[name] for name in SAME} == {name: after[name] for name in SAME}


def test_everything_comes_back_in_a_second_folder(tmp_path: Path) -> None:
    check_round(tmp_path, {}, {})


@pytest.mark.postgres
def test_everything_comes_back_on_a_second_postgresql(tmp_path: Path) -> None:
    with temporary_postgres() as first, temporary_postgres() as second:
        check_round(tmp_path, {"VOUCH_DATABASE_URL": first}, {"VOUCH_DATABASE_URL": second})


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    refused = vouch("restore", str(tmp_path), VOUCH_DATA_DIR=str(tmp_path / "data"))
    assert refused.returncode == 1
    assert "backup_failed" in refused.stderr
