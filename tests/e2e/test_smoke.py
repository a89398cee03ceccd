"""`vouch smoke` against a real installation."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.e2e.installation import ROOT, SIGNING_KEY, Installation, Process


def smoke(mcp_url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli.main", "smoke", *arguments],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "VOUCH_SIGNING_KEY": SIGNING_KEY,
            "VOUCH_MCP_URL": mcp_url,
        },
        check=False, capture_output=True, text=True, timeout=90,
    )  # fmt: skip


def test_a_working_installation_passes(installation: Installation, plain_api: Process) -> None:
    done = smoke(installation.mcp.url, plain_api.url, "--question", "How long are backups kept?")
    assert done.returncode == 0, done.stderr
    assert "four tools answer" in done.stderr
    assert "refused:" in done.stderr


def test_an_answer_where_a_refusal_is_due_fails(
    installation: Installation, plain_api: Process
) -> None:
    answered = "How long are backups kept?"
    done = smoke(
        installation.mcp.url, plain_api.url, "--question", answered, "--unanswerable", answered
    )
    assert done.returncode == 1
    assert "answered instead of refused" in done.stderr.replace("\n", " ")


def test_an_api_that_is_away_fails(installation: Installation) -> None:
    done = smoke(installation.mcp.url, "http://127.0.0.1:1")
    assert (done.returncode, "unreachable" in done.stderr) == (1, True)
