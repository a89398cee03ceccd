"""`vouch-stack` against a container command that writes down what it was told."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ("qdrant", "postgres", "rabbitmq", "embeddings", "mcp", "worker", "api", "nginx")
# Remembers what runs in a file, so that starting twice and stopping can be told apart.
DOCKER = """#!/bin/sh
echo "$*" >>"$STATE/calls"
for each in "$@"; do last=$each; done
case "$*" in
  *"ps --services"*) cat "$STATE/running" 2>/dev/null ;;
  *"config --services"*) printf '%s\\n' $STACK_SERVICES ;;
  *" up "*) seen=; for each in "$@"; do
      [ -n "$seen" ] && echo "$each" >>"$STATE/running"; [ "$each" = --wait ] && seen=1; done ;;
  *" stop "*) : >"$STATE/running" ;;
esac
exit 0
"""


@dataclass(frozen=True)
class Stack:
    folder: Path
    state: Path

    def run(
        self, *arguments: str, typed: str = "", services: tuple[str, ...] = SERVICES
    ) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": f"{self.state}:{os.environ['PATH']}",
            "STATE": str(self.state),
            "STACK_SERVICES": " ".join(services),
            "VOUCH_NAME": "docs.example",
        }
        return subprocess.run(
            [self.folder / "deploy/vouch-stack", *arguments],
            input=typed, env=environment, check=False, capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    def calls(self, word: str) -> list[str]:
        path = self.state / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line for line in lines if f" {word} " in f" {line} "]


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    made = shutil.ignore_patterns("secrets", "logs", "nginx")
    shutil.copytree(ROOT / "deploy", tmp_path / "copy/deploy", ignore=made)
    shutil.copytree(ROOT / "nginx", tmp_path / "copy/nginx")
    state = tmp_path / "state"
    state.mkdir()
    docker = state / "docker"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    return Stack(tmp_path / "copy", state)


def last_words(line: str, count: int) -> list[str]:
    return line.split()[-count:]


def test_everything_starts_layer_by_layer_and_stops_in_reverse(stack: Stack) -> None:
    assert stack.run().returncode == 0
    started = [line.split("--wait ")[1].split() for line in stack.calls("up")]
    assert started == [
        ["qdrant", "postgres", "rabbitmq"], ["embeddings", "mcp", "worker"], ["api", "nginx"]
    ]  # fmt: skip
    stopped = [line.split(" stop ")[1].split() for line in stack.calls("stop")]
    assert stopped == [
        ["nginx", "api"], ["worker", "mcp", "embeddings"], ["rabbitmq", "postgres", "qdrant"]
    ]  # fmt: skip


def test_start_leaves_alone_what_runs(stack: Stack) -> None:
    stack.run("infra", "start")
    assert "runs already" in stack.run("infra", "start").stdout
    assert len(stack.calls("up")) == 1


def test_one_layer_is_all_that_is_touched(stack: Stack) -> None:
    stack.run("app", "restart")
    assert [last_words(line, 2) for line in stack.calls("up")] == [["api", "nginx"]]
    assert [last_words(line, 2) for line in stack.calls("stop")] == [["nginx", "api"]]


def test_status_changes_nothing(stack: Stack) -> None:
    assert stack.run("status").returncode == 0
    assert not [*stack.calls("up"), *stack.calls("stop"), *stack.calls("rm"), *stack.calls("down")]
    assert not (stack.folder / "deploy/secrets").exists()


@pytest.mark.parametrize("typed", ["", "yes\n", "infra\n"])
def test_clean_without_the_right_word_removes_nothing(stack: Stack, typed: str) -> None:
    assert stack.run("all", "clean", typed=typed).returncode == 1
    assert not [*stack.calls("stop"), *stack.calls("down")]


def test_clean_with_the_word_removes_volumes_and_images(stack: Stack) -> None:
    assert stack.run("all", "clean", typed="all\n").returncode == 0
    assert stack.calls("down")[0].endswith("down --volumes --rmi all --remove-orphans")


def test_further_index_nodes_start_with_the_first_layer(stack: Stack) -> None:
    stack.run("infra", "start", services=(*SERVICES, "qdrant-2", "qdrant-3"))
    assert last_words(stack.calls("up")[0], 2) == ["qdrant-2", "qdrant-3"]


def test_secrets_are_made_once_and_kept_from_other_users(stack: Stack) -> None:
    stack.run("infra", "start")
    secrets = stack.folder / "deploy/secrets"
    first = {path.name: path.read_text() for path in secrets.iterdir()}
    stack.run("infra", "restart")
    assert {path.name: path.read_text() for path in secrets.iterdir()} == first
    assert secrets.stat().st_mode & 0o777 == 0o700
    assert len(first["vouch_signing_key"]) >= 32
    assert first["vouch_database_url"].strip().endswith("@postgres:5432/vouch")
    assert first["openai_api_key"] == ""


def test_nginx_is_given_the_name_and_the_containers(stack: Stack) -> None:
    stack.run("infra", "start")
    folder = stack.folder / "deploy/nginx"
    assert "server_name docs.example;" in (folder / "vouch.conf").read_text()
    assert "server api:8000" in (folder / "vouch-upstreams.conf").read_text()


@pytest.mark.parametrize("arguments", [("everything",), ("all", "explode"), ("all", "start", "x")])
def test_an_unknown_word_is_refused_with_the_usage(
    stack: Stack, arguments: tuple[str, ...]
) -> None:
    refused = stack.run(*arguments)
    assert (refused.returncode, "usage:" in refused.stderr) == (2, True)
    assert not (stack.state / "calls").exists()
