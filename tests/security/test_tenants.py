"""Two tenants on one installation: neither learns anything of the other's documents.

The strongest form of it: with the other tenant's documents in the index, every answer and number is
the same as without them. One number is of the whole build, and documented to be: the average length
of a passage, in BM25.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import httpx
import pytest
from pydantic import JsonValue

from backend.edge.gate import scope_of
from tests.e2e.installation import ROOT, Installation, Process

# Two whole installations are made before the first test.
pytestmark = pytest.mark.timeout(900)

ALPHA = {
    "zephyr.md": "# Zephyr rotation\n\nThe zephyr valve is rotated every nine hours by the night "
    "crew.\n\n## Zephyr limits\n\nA zephyr valve holds at most forty bar of pressure.\n"
}
BETA = {
    "quillon.md": "# Quillon rotation\n\nThe quillon valve is rotated every thirteen hours by the "
    "harbour crew.\n\n## Quillon limits\n\nA quillon valve holds at most seventy bar.\n"
}
PUBLIC = {
    "valves.md": "# Valves\n\nEvery valve has a handle, a body and a seal. A valve is opened by "
    "turning its handle to the left.\n"
}
# Words that only the other tenant's documents, addresses and headings have.
ABSENT = "00000000-0000-5000-8000-000000000000"
SECRET = re.compile(r"quillon|harbour|thirteen|seventy", re.IGNORECASE)
DESK = ("/gaps", "/gaps.jsonl", "/what-if", "/quality")
QUESTIONS = (
    "How often is the zephyr valve rotated?",
    "How do I open a valve?",
    "Which crew rotates the valve?",
    "How much pressure does a valve hold?",
)


@dataclass(frozen=True)
class Site:
    """An installation in which every caller needs a key."""

    installation: Installation
    api: Process

    def command(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "cli.main", *arguments],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(ROOT),
                "VOUCH_DATA_DIR": str(self.installation.folder),
            },
            check=True, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        return done.stdout.strip()

    def key(self, name: str, *labels: str, scope: str = "") -> str:
        options = [part for label in labels for part in ("--label", label)]
        scopes = [part for one in [scope] if one for part in ("--scope", one)]
        both = ["--scope", "ask", "--scope", "review"]
        return self.command("keys", "create", name, *(scopes or both), *options)

    def ingest(self, files: dict[str, str], source: str, *labels: str) -> None:
        folder = self.installation.folder / "documents" / source
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        options = [part for label in labels for part in ("--label", label)]
        self.command("ingest", str(folder), "--source", source, *options)

    def client(self, key: str = "") -> httpx.Client:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return httpx.Client(base_url=self.api.url, headers=headers, timeout=60, trust_env=False)


def open_site(folder: Path, stack: ExitStack, *, with_beta: bool) -> Site:
    installation = Installation(folder)
    installation.migrate()
    site = Site(installation, installation.api(VOUCH_ANONYMOUS_ASK="false"))
    site.ingest(PUBLIC, "public")
    site.ingest(ALPHA, "alpha", "alpha")
    if with_beta:
        site.ingest(BETA, "beta", "beta")
    installation.mcp.start()
    stack.callback(installation.mcp.stop)
    site.api.start()
    stack.callback(site.api.stop)
    return site


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with ExitStack() as stack:
        yield open_site(tmp_path_factory.mktemp("alone"), stack, with_beta=False)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with ExitStack() as stack:
        yield open_site(tmp_path_factory.mktemp("both"), stack, with_beta=True)


@pytest.fixture(scope="module")
def alpha(both: Site) -> Iterator[httpx.Client]:
    with both.client(both.key("alpha", "alpha")) as client:
        yield client


@pytest.fixture(scope="module")
def beta(both: Site) -> Iterator[httpx.Client]:
    with both.client(both.key("beta", "beta")) as client:
        yield client


@pytest.fixture(scope="module")
def beta_ask(beta: httpx.Client) -> dict[str, object]:
    """An ask of the other tenant, answered from its own documents."""
    body = beta.post("/ask", json={"question": "How often is the quillon valve rotated?"}).json()
    assert body["status"] == "answered"
    assert SECRET.search(body["answer"])
    return cast(dict[str, object], body)


def without_what_differs_by_run(document: JsonValue) -> JsonValue:
    """Return an answer without its id, times and build, which no two asks share."""
    volatile = {
        *("id", "ask_id", "created_at", "timings_ms", "milliseconds", "build"),
        *("content_digest", "source_url"),
    }
    if isinstance(document, dict):
        return {
            key: without_what_differs_by_run(value)
            for key, value in document.items()
            if key not in volatile
        }
    if isinstance(document, list):
        return [without_what_differs_by_run(one) for one in document]
    return document


def is_same(first: object, second: object, name: str) -> bool:
    """Whether two values are equal, BM25 up to the average length of a passage in the build."""
    of_bm25 = ("sparse_bm25", "sparse_per_term", "zscore", "bm25")
    if name.endswith(of_bm25) and isinstance(first, float):
        return first == pytest.approx(second, rel=0.1)
    return first == second


def differences(first: JsonValue, second: JsonValue, path: str = "") -> Iterator[str]:
    """Yield each place where two documents differ, with both values."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in sorted(first.keys() | second.keys()):
            yield from differences(first.get(key), second.get(key), f"{path}.{key}")
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from differences(one, other, f"{path}[{number}]")
    elif not is_same(first, second, path.rpartition(".")[2]):
        yield f"{path}: {first!r} != {second!r}"


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("path", ["/ask", "/api/v1/retrieval/search"])
def test_every_number_is_as_if_the_other_tenant_were_not_there(
    alone: Site, both: Site, path: str, question: str
) -> None:
    field, most = ("question", "top_k") if path == "/ask" else ("query", "top_n")
    seen: list[JsonValue] = []
    for site in (alone, both):
        with site.client(site.key("twin", "alpha")) as client:
            reply = client.post(path, json={field: question, most: 8})
        assert reply.status_code == 200
        text = re.sub(r"/[^\"]*?/documents/", "", reply.text)
        seen.append(without_what_differs_by_run(json.loads(text)))
    assert list(differences(seen[0], seen[1])) == []


@pytest.mark.parametrize("source", ["", "beta", "alpha"])
@pytest.mark.parametrize("question", [*QUESTIONS, "How often is it rotated at the port?"])
def test_no_search_finds_the_other_tenants_text(
    alpha: httpx.Client, question: str, source: str
) -> None:
    filters = {"source": source} if source else {}
    for path, body in (
        ("/ask", {"question": question, "top_k": 20, "source": source}),
        ("/api/v1/retrieval/search", {"query": question, "top_n": 20, "filters": filters}),
    ):
        reply = alpha.post(path, json=body)
        assert reply.status_code == 200
        assert not SECRET.search(reply.text)
        chunks = reply.json().get("retrieved_chunks", reply.json().get("hits", []))
        assert not [chunk for chunk in chunks if chunk["source"] == "beta"]


def test_a_passage_of_the_other_tenant_is_as_unknown_as_one_that_is_not(
    alpha: httpx.Client, beta_ask: dict[str, object]
) -> None:
    chunks = cast(list[dict[str, str]], beta_ask["retrieved_chunks"])
    theirs = next(chunk["chunk_id"] for chunk in chunks if chunk["source"] == "beta")
    hidden, absent = (alpha.get(f"/sources/{one}") for one in (theirs, ABSENT))
    assert hidden.status_code == absent.status_code
    assert not SECRET.search(hidden.text)
    assert hidden.text.replace(theirs, "") == absent.text.replace(ABSENT, "")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/asks/{id}"),
        ("GET", "/asks/{id}/record"),
        ("POST", "/asks/{id}/replay"),
        ("GET", "/a/{id}"),
        ("GET", "/history/{id}"),
    ],
)
def test_a_record_of_the_other_tenant_is_not_there(
    alpha: httpx.Client, beta: httpx.Client, beta_ask: dict[str, object], method: str, path: str
) -> None:
    address = path.format(id=beta_ask["id"])
    assert beta.request(method, address).status_code == 200
    refused = alpha.request(method, address)
    assert refused.status_code == 404
    assert not SECRET.search(refused.text)


def test_feedback_cannot_be_given_on_what_cannot_be_seen(
    alpha: httpx.Client, beta: httpx.Client, beta_ask: dict[str, object]
) -> None:
    path = f"/a/{beta_ask['id']}/feedback"
    assert alpha.post(path, data={"thumb": "down"}).status_code == 404
    assert beta.post(path, data={"thumb": "up"}).status_code == 303


def test_a_follow_up_cannot_take_up_the_other_tenants_conversation(
    alpha: httpx.Client, beta_ask: dict[str, object]
) -> None:
    body = {"question": "And how often?", "conversation_id": beta_ask["id"]}
    reply = alpha.post("/ask", json=body)
    assert reply.status_code == 200
    assert not SECRET.search(reply.text)


@pytest.mark.parametrize("path", ["/", "/history", "/history?fidelity=exact", "/glossary", *DESK])
def test_no_page_shows_the_other_tenant(
    alpha: httpx.Client, beta_ask: dict[str, object], path: str
) -> None:
    reply = alpha.get(path, headers={"accept": "text/html"})
    assert reply.status_code == 200
    assert str(beta_ask["id"]) not in reply.text
    assert not SECRET.search(reply.text)
    assert "beta" not in re.sub(r"alphabeta", "", reply.text.lower())


def test_a_key_with_both_labels_sees_both(both: Site, beta_ask: dict[str, object]) -> None:
    with both.client(both.key("both", "alpha", "beta")) as client:
        assert client.get(f"/asks/{beta_ask['id']}").status_code == 200


def test_without_a_key_nothing_but_health_is_served(both: Site) -> None:
    with both.client() as client, both.client(both.key("documentation")) as known:
        paths = known.get("/openapi.json").json()["paths"]
        # Changing the index has a rule of its own: the admin key, or this machine itself.
        guarded = {
            path: how
            for path, how in paths.items()
            if "/ingestion" not in path and scope_of(path) is not None
        }
        for path, methods in guarded.items():
            for method in methods:
                status = client.request(method, re.sub(r"{\w+}", "x", path)).status_code
                assert (path, status) == (path, 401)
        for path in ("/", "/history", "/metrics", "/openapi.json", "/docs", "/sources/x"):
            assert client.get(path).status_code == 401


def test_one_tenants_requests_do_not_count_on_the_others_rate(
    alpha: httpx.Client, beta: httpx.Client
) -> None:
    def left(client: httpx.Client) -> int:
        found = re.match(r'"key";r=(\d+);', client.get("/asks/x").headers["ratelimit"])
        assert found is not None
        return int(found[1])

    # The bucket refills while this runs; what others do could only empty it.
    before = left(alpha)
    for _ in range(20):
        beta.get("/asks/x")
    assert left(alpha) >= before - 1


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_deleting_records_tells_a_tenant_nothing(
    alpha: httpx.Client, beta_ask: dict[str, object], method: str
) -> None:
    for path in (f"/api/v1/admin/records/{beta_ask['id']}", "/api/v1/admin/records/absent"):
        refused = alpha.request(method, path)
        assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")


def test_a_revoked_key_is_refused_at_once(both: Site) -> None:
    key = both.key("short lived", "alpha")
    with both.client(key) as client:
        assert client.get("/history").status_code == 200
        both.command("keys", "revoke", key.split("_")[1])
        refused = client.get("/history")
    assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")


def test_metrics_need_their_own_scope(both: Site, alpha: httpx.Client) -> None:
    refused = alpha.get("/metrics")
    assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")
    with both.client(both.key("scraper", scope="metrics")) as scraper:
        assert scraper.get("/metrics").status_code == 200
        assert scraper.post("/ask", json={"question": QUESTIONS[0]}).status_code == 403
