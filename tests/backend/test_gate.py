"""Who is let in, as whom, and to what."""

from __future__ import annotations

import base64

import pytest

from backend.caller import ANONYMOUS
from backend.edge.gate import key_in, scope_of
from backend.settings import ApiSettings
from storage.database import Database
from storage.keys import KeyScope, KeyStore, new_key
from tests.backend.conftest import Connect
from tests.backend.fakes import FakeAgent, says
from tests.backend.test_ask import ANSWER, QUESTION, strong

BODY = {"question": QUESTION}
DESK = ("/history", "/gaps", "/gaps.jsonl", "/what-if", "/labelled.zip", "/quality")


async def make_key(
    settings: ApiSettings, *scopes: KeyScope, labels: tuple[str, ...] = ()
) -> dict[str, str]:
    """Store a key and return the headers that show it."""
    key, record = new_key("test", scopes, labels)
    database = Database(settings.database_url)
    await KeyStore(database).save(record)
    await database.close()
    return {"authorization": f"Bearer {key}"}


async def test_a_local_installation_asks_for_no_key(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    assert (await client.post("/ask", json=BODY)).status_code == 200
    assert (await client.get("/metrics")).status_code == 200


@pytest.mark.parametrize("reach", [{"host": "0.0.0.0"}, {"allowed_hosts": ("docs.example",)}])  # noqa: S104
async def test_a_service_that_others_reach_asks_for_one(
    connect: Connect, reach: dict[str, object]
) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)), **reach)
    refused = await client.post("/ask", json=BODY)
    assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")
    assert refused.headers["www-authenticate"].startswith("Bearer, Basic")
    assert (await client.get("/healthz")).status_code == 200


async def test_open_asking_opens_nothing_else(connect: Connect) -> None:
    client = await connect(
        strong(), FakeAgent(says(ANSWER)), allowed_hosts=("docs.example",), anonymous_ask=True
    )
    assert (await client.post("/ask", json=BODY)).status_code == 200
    refused = await client.get("/metrics")
    assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")
    assert "scope metrics" in refused.json()["detail"]


@pytest.mark.parametrize("path", DESK)
async def test_what_others_asked_needs_the_scope_of_reviewers(
    connect: Connect, settings: ApiSettings, path: str
) -> None:
    open_to_all = await connect(
        strong(), FakeAgent(says(ANSWER)), allowed_hosts=("docs.example",), anonymous_ask=True
    )
    assert (await open_to_all.get(path)).status_code == 401
    asker, reviewer = await make_key(settings, "ask"), await make_key(settings, "review")
    refused = await open_to_all.get(path, headers=asker)
    assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")
    assert (await open_to_all.get(path, headers=reviewer)).status_code == 200
    assert (await open_to_all.post("/ask", json=BODY, headers=reviewer)).status_code == 403


async def test_a_label_is_kept_for_reviewers_alone(connect: Connect, settings: ApiSettings) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)), anonymous_ask=False)
    asker, reviewer = await make_key(settings, "ask"), await make_key(settings, "review")
    asked = (await client.post("/ask", json=BODY, headers=asker)).json()["id"]
    path, form = f"/history/{asked}/label", {"label": "right"}
    assert (await client.post(path, data=form, headers=asker)).status_code == 403
    assert (await client.post(path, data=form, headers=reviewer)).status_code == 303


async def test_a_wrong_key_is_refused_even_where_asking_is_open(connect: Connect) -> None:
    client = await connect(
        strong(), FakeAgent(says(ANSWER)), allowed_hosts=("docs.example",), anonymous_ask=True
    )
    for value in ("Bearer vk_x_y", "Bearer", "Digest x", "Basic !!"):
        reply = await client.post("/ask", json=BODY, headers={"authorization": value})
        assert reply.status_code == 401


async def test_a_keys_labels_reach_both_branches_and_the_record(
    connect: Connect, settings: ApiSettings
) -> None:
    knowledge = strong()
    client = await connect(knowledge, FakeAgent(says(ANSWER)), anonymous_ask=False)
    staff = await make_key(settings, "ask", "review", labels=("staff",))
    asked = await client.post("/ask", json=BODY, headers=staff)
    assert {claims.labels for claims, *_ in knowledge.calls} == {("staff",)}
    address = f"/asks/{asked.json()['id']}"
    assert (await client.get(address, headers=staff)).status_code == 200
    other = await make_key(settings, "ask", "review", labels=("partners",))
    assert (await client.get(address, headers=other)).status_code == 404
    assert asked.json()["id"] not in (await client.get("/history", headers=other)).text
    assert asked.json()["id"] in (await client.get("/history", headers=staff)).text


async def test_a_key_opens_what_its_scope_says(connect: Connect, settings: ApiSettings) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)), anonymous_ask=False)
    metrics, admin = await make_key(settings, "metrics"), await make_key(settings, "admin")
    assert (await client.get("/metrics", headers=metrics)).status_code == 200
    assert (await client.post("/ask", json=BODY, headers=metrics)).status_code == 403
    assert (await client.get("/metrics", headers=admin)).status_code == 200
    assert (await client.post("/ask", json=BODY, headers=admin)).status_code == 200


async def test_a_browser_without_a_key_gets_a_page_that_lets_it_ask_for_one(
    connect: Connect, settings: ApiSettings
) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)), anonymous_ask=False)
    refused = await client.get("/", headers={"accept": "text/html"})
    assert refused.status_code == 401
    assert "text/html" in refused.headers["content-type"]
    key = (await make_key(settings, "ask"))["authorization"].removeprefix("Bearer ")
    basic = base64.b64encode(f"anybody:{key}".encode()).decode()
    shown = await client.get("/", headers={"authorization": f"Basic {basic}"})
    assert shown.status_code == 200


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("/healthz", None),
        ("/static/app.css", None),
        ("/metrics", "metrics"),
        ("/history/x/label", "review"),
        ("/gaps.jsonl", "review"),
        ("/historyx", "ask"),
        ("/api/v1/ingestion/jobs", "ingest"),
        ("/api/v1/ingestionx", "ask"),
        ("/openapi.json", "ask"),
        ("/a/new/route", "ask"),
    ],
)
def test_every_path_needs_a_scope_unless_it_is_open(path: str, scope: str | None) -> None:
    assert scope_of(path) == scope


def test_no_header_is_nobody_and_a_strange_one_is_a_wrong_key() -> None:
    assert key_in("") is None
    assert key_in("Negotiate abc") == ""
    assert not ANONYMOUS.may("admin")


async def test_a_chat_client_with_a_made_up_key_is_served_on_this_machine(
    connect: Connect,
) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    reply = await client.post("/ask", json=BODY, headers={"authorization": "Bearer none"})
    assert reply.status_code == 200
