"""``vouch profiles`` lists and explains what can be chosen."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from cli.main import app


def test_every_profile_is_listed_and_the_one_in_force_named() -> None:
    reply = CliRunner().invoke(app, ["profiles", "--json"])
    body = json.loads(reply.output)
    assert body["in_force"] == "default"
    assert {"default", "quality", "late-interaction", "server-1024"} <= body["profiles"].keys()
    assert body["profiles"]["server-1024"]["search"]["dense_floor_cosine"] == 0.5


def test_one_profile_is_explained_value_by_value() -> None:
    reply = CliRunner().invoke(app, ["profiles", "server-1024"], env={"COLUMNS": "200"})
    assert reply.exit_code == 0
    assert "search.sparse_floor" in reply.output
    assert "Qwen/Qwen3-Embedding-0.6B" in reply.output


def test_an_unknown_profile_is_refused_with_those_there_are() -> None:
    reply = CliRunner().invoke(app, ["profiles", "nope"])
    assert reply.exit_code == 1
