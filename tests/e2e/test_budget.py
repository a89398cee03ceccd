"""A key's token budget over real processes and a real endpoint."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import httpx

from storage.database import Database, database_url
from storage.keys import KeyStore, new_key
from tests import scripted_model as model
from tests.e2e.conftest import StartApi
from tests.e2e.installation import ROOT, Installation
from tests.e2e.test_ask import KEY_QUESTION

SAID = "Run `harbor keys rotate` to rotate the signing key [1]."


def make_key(folder: Path) -> str:
    key, record = new_key("spender", ("ask",), (), daily_tokens=4000)

    async def save() -> None:
        database = Database(database_url("", folder, "vouch"))
        await KeyStore(database).save(record)
        await database.close()

    asyncio.run(save())
    return key


def list_keys(folder: Path) -> list[dict[str, object]]:
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "keys", "list", "--json"],
        env={
            "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "VOUCH_DATA_DIR": str(folder),
        },
        check=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    listed: list[dict[str, object]] = json.loads(done.stdout)["keys"]
    return listed


def test_a_key_spends_its_budget_and_the_list_of_keys_shows_it(
    client: httpx.Client, start_api: StartApi, installation: Installation
) -> None:
    headers = {"authorization": f"Bearer {make_key(installation.folder)}"}
    with model.serve(model.always(model.say(SAID))) as scripted:
        api = start_api(
            VOUCH_ANONYMOUS_ASK="false", OPENAI_BASE_URL=scripted.url, VOUCH_MODEL="scripted"
        )
        replies = [
            client.post(f"{api.url}/ask", json={"question": KEY_QUESTION}, headers=headers)
            for _ in range(6)
        ]
    assert replies[0].status_code == 200
    assert replies[0].json()["agent"]["tokens"]
    assert (replies[-1].status_code, replies[-1].json()["code"]) == (429, "daily_tokens_spent")
    found = next(one for one in list_keys(installation.folder) if one["name"] == "spender")
    spent = found["tokens_today"]
    assert isinstance(spent, int)
    assert 0 < spent <= 4000
