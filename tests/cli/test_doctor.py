"""``vouch doctor`` knows its own tool server from another one's, and every server it may use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.e2e.installation import ROOT, SIGNING_KEY, Installation

# Several processes are started, which takes long on a busy machine.
pytestmark = pytest.mark.timeout(400)

NOBODY = "127.0.0.1:9"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    made = Installation(tmp_path_factory.mktemp("doctored"))
    made.prepare()
    made.mcp.start()
    yield made
    made.mcp.stop()


def examine(made: Installation, **environment: str) -> dict[str, dict[str, Any]]:
    port = urlsplit(made.mcp.url).port
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "doctor", "--json"],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "VOUCH_DATA_DIR": str(made.folder),
            "VOUCH_MCP_PORT": str(port),
            **environment,
        },
        cwd=made.folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return {found["name"]: found for found in json.loads(done.stdout)["findings"]}


def test_the_tool_server_of_this_installation_is_ok(running: Installation) -> None:
    found = examine(running, VOUCH_SIGNING_KEY=SIGNING_KEY)
    assert found["tool server"]["state"] == "ok"
    assert found["database"]["state"] == found["index"]["state"] == "ok"
    assert found["worker"]["state"] == "note"


def test_the_tool_server_of_another_installation_is_not_taken_for_this_ones(
    running: Installation, tmp_path: Path
) -> None:
    # The key that `vouch up` would have made for this one.
    keys = {"VOUCH_SIGNING_KEY": "the-key-of-another-installation", "VOUCH_MCP_TOKEN": "t" * 20}
    (running.folder / "secrets.json").write_text(json.dumps(keys))
    found = examine(running)["tool server"]
    (running.folder / "secrets.json").unlink()
    assert found["state"] == "fail"
    assert "another installation" in found["detail"]


def test_every_server_that_is_configured_is_asked(running: Installation) -> None:
    found = examine(
        running,
        VOUCH_EMBEDDING_URL=f"http://{NOBODY}",
        VOUCH_BROKER_URL=f"amqp://guest:guest@{NOBODY}/",
        VOUCH_REDIS_URL=f"redis://{NOBODY}/0",
        OPENAI_BASE_URL=f"http://{NOBODY}/v1",
    )
    names = ("embedding service", "broker", "redis", "language model")
    assert [found[name]["state"] for name in names] == ["fail"] * 4
