"""Questions and secrets are in no log of any process, and what is deleted is in no database."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from storage.database import Database, database_url
from storage.keys import KeyScope, KeyStore, new_key
from tests import scripted_model as model
from tests.e2e.installation import CORPUS, SIGNING_KEY, Installation, Process, pick_port

QUESTION = "How do I rotate the signing key for zanzibarquux?"
CANARY = "zanzibarquux"
MODEL_KEY = "sk-model-key-of-a-test-1234567890"
TOKEN = "a-fixed-token"

pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True)
class Site:
    """Every process that sees a question, at its most talkative."""

    folder: Path
    api: Process
    asker: str
    admin: str

    def client(self, key: str) -> httpx.Client:
        headers = {"authorization": f"Bearer {key}"}
        return httpx.Client(base_url=self.api.url, headers=headers, timeout=60, trust_env=False)

    def logs(self) -> str:
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    def databases(self) -> bytes:
        return b"".join(path.read_bytes() for path in sorted(self.folder.glob("*.db*")))


def make_key(folder: Path, scope: KeyScope) -> str:
    key, record = new_key("test", [scope], ())

    async def save() -> None:
        database = Database(database_url("", folder, "vouch"))
        await KeyStore(database).save(record)
        await database.close()

    asyncio.run(save())
    return key


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("private")
    installation = Installation(folder)
    installation.migrate()
    installation.ingest(CORPUS)
    port = pick_port()
    talkative = {"VOUCH_LOG_LEVEL": "DEBUG"}
    embeddings = Process(
        "retrieval.embedding_service", f"http://127.0.0.1:{port}",
        {"VOUCH_DATA_DIR": str(folder), "VOUCH_EMBEDDINGS_PORT": str(port), **talkative},
        folder / "embeddings.log",
    )  # fmt: skip
    with ExitStack() as stack:
        scripted = stack.enter_context(model.serve(model.answers_from_evidence))
        installation.mcp.environment = {
            **installation.mcp.environment, **talkative, "VOUCH_EMBEDDING_URL": embeddings.url,
        }  # fmt: skip
        api = installation.api(
            VOUCH_ANONYMOUS_ASK="false", OPENAI_BASE_URL=scripted.url, VOUCH_MODEL="scripted",
            OPENAI_API_KEY=MODEL_KEY, VOUCH_AGENT_SECONDS="5", **talkative,
        )  # fmt: skip
        for process in (embeddings, installation.mcp, api):
            stack.callback(process.stop)
            process.start()
        yield Site(folder, api, make_key(folder, "ask"), make_key(folder, "admin"))


def test_no_log_holds_a_question_or_a_secret(site: Site) -> None:
    with site.client(site.asker) as client:
        assert client.post("/ask", json={"question": QUESTION}).status_code == 200
        client.post("/", data={"question": QUESTION})
        client.get("/", params={"question": QUESTION})
        client.post("/api/v1/retrieval/search", json={"query": QUESTION})
        client.post("/v1/chat/completions", json={"model": "none", "messages": QUESTION})
        client.post("/ask", content=f'{{"question": "{QUESTION}", "top_k": "x"}}')
        client.post("/ask", json={"question": QUESTION}, headers={"authorization": "Bearer vk_a_b"})
        client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": CANARY})
    logs = site.logs()
    assert CANARY.encode() in site.databases()
    assert '"path": "/ask"' in logs
    assert "tool_call" in logs
    assert CANARY not in logs
    secrets = (site.asker, site.admin, MODEL_KEY, SIGNING_KEY, TOKEN)
    assert [secret for secret in secrets if secret in logs] == []
    # A signed token: base64 of JSON, a point, a digest.
    assert not re.search(r"eyJ[\w-]{40,}\.[\w-]{40,}", logs)


def test_a_deleted_question_is_in_no_database_of_any_process(site: Site) -> None:
    with site.client(site.admin) as client:
        asker = {"authorization": f"Bearer {site.asker}"}
        asked = client.post("/ask", json={"question": QUESTION}, headers=asker).json()["id"]
        assert client.delete(f"/api/v1/admin/records/{asked}").json() == {"deleted": 1}
        assert client.get(f"/asks/{asked}").status_code == 404
        name = site.asker.split("_")[1]
        gone = client.delete("/api/v1/admin/records", params={"caller": f"key-{name}"})
        assert gone.status_code == 200
    # Also searches outside an ask, in the tool server's own file.
    assert CANARY.encode() not in site.databases()
