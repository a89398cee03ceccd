"""Webhooks: who is believed, and that a body can never choose what is read."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import AsyncIterator

import httpx
import pytest
from pydantic import SecretStr, ValidationError

from backend.errors import BadSignatureError
from backend.intake.hooks import HookRules, check_signature
from backend.settings import ApiSettings, load_settings
from storage.database import Database
from storage.index_view import IndexView, SourceRecord
from storage.job_orders import IngestOrder, OrderedSource
from storage.jobs import JobStore
from tests.backend.conftest import Connect
from tests.backend.fakes import FakeAgent, knows, says
from tests.environment import environment

SECRET = "0123456789abcdef-hook"
BODY = (
    b'{"repository": {"clone_url": "http://169.254.169.254/latest"}, "url": "http://evil.example"}'
)
LOCATION = "https://docs.example/sitemap.xml"


def sign(signed: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def stamped(body: bytes = BODY, *, age: float = 0.0, secret: str = SECRET) -> dict[str, str]:
    stamp = str(int(time.time() - age))
    return {
        "x-vouch-timestamp": stamp,
        "x-vouch-signature": sign(stamp.encode() + b"." + body, secret),
    }


@pytest.fixture
async def database(settings: ApiSettings) -> AsyncIterator[Database]:
    database = Database(settings.database_url)
    source = OrderedSource(name="guides/site", kind="url", location=LOCATION)
    request = IngestOrder(sources=(source,)).model_dump(mode="json")
    await IndexView(database).keep_sources(
        [SourceRecord(name=source.name, location=LOCATION, profile="pdf_fast", request=request)]
    )
    yield database
    await database.close()


@pytest.fixture
async def api(connect: Connect, database: Database) -> httpx.AsyncClient:
    # Whoever signs needs no key, also where everybody else does.
    return await connect(
        knows({}), FakeAgent(says("x")), webhook_secret=SecretStr(SECRET), anonymous_ask=False
    )


@pytest.mark.parametrize("form", ["stamped", "github"])
async def test_a_signed_hook_has_the_known_source_read_again_and_nothing_else(
    api: httpx.AsyncClient, database: Database, form: str
) -> None:
    headers = (
        stamped()
        if form == "stamped"
        else {"x-hub-signature-256": sign(BODY), "x-github-event": "push"}
    )
    response = await api.post("/hooks/guides/site", content=BODY, headers=headers)
    assert response.status_code == 202, response.text
    job = await JobStore(database).find(response.json()["job_id"])
    assert job is not None
    order = IngestOrder.model_validate(job.request)
    assert [source.location for source in order.sources] == [LOCATION]
    assert (job.state, job.profile, job.requester) == ("queued", "pdf_fast", "webhook")
    again = await api.post("/hooks/guides/site", content=BODY, headers=headers)
    assert again.json()["job_id"] == job.id
    assert len(await JobStore(database).recent(limit=10)) == 1


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({}, BODY),
        ({"x-hub-signature-256": sign(BODY, "another secret of length")}, BODY),
        ({"x-hub-signature-256": sign(BODY)}, BODY + b" "),
        ({"x-hub-signature-256": sign(BODY).removeprefix("sha256=")}, BODY),
        ({"x-hub-signature-256": "sha256=é"}, BODY),
        (stamped(age=400), BODY),
        (stamped(age=-400), BODY),
        (stamped(secret="another secret of length"), BODY),
        (stamped(), BODY + b" "),
        ({**stamped(), "x-vouch-timestamp": "0"}, BODY),
        ({**stamped(), "x-vouch-timestamp": str(int(time.time()) + 1)}, BODY),
        ({"x-vouch-signature": sign(BODY)}, BODY),
        # A body signed for one form is worth nothing in the other.
        ({"x-vouch-signature": sign(BODY), "x-hub-signature-256": sign(BODY)}, BODY),
    ],
)
def test_what_is_not_signed_as_agreed_is_refused(headers: dict[str, str], body: bytes) -> None:
    rules = HookRules(SECRET.encode(), 300.0)
    with pytest.raises(BadSignatureError):
        check_signature(headers, body, rules, now=time.time())


async def test_a_wrong_signature_is_401_before_anything_is_said_of_the_source(
    api: httpx.AsyncClient, database: Database
) -> None:
    headers = stamped(secret="x" * 16)
    for source in ("guides/site", "unknown"):
        response = await api.post(f"/hooks/{source}", content=BODY, headers=headers)
        assert (response.status_code, response.json()["code"]) == (401, "bad_signature")
    assert not await JobStore(database).recent(limit=1)


async def test_a_source_that_was_never_ordered_is_not_made_up(
    api: httpx.AsyncClient, database: Database
) -> None:
    response = await api.post("/hooks/evil.example", content=BODY, headers=stamped())
    assert (response.status_code, response.json()["code"]) == (404, "unknown_source")
    assert not await JobStore(database).recent(limit=1)


async def test_an_event_that_changes_no_document_orders_nothing(
    api: httpx.AsyncClient, database: Database
) -> None:
    headers = {"x-hub-signature-256": sign(BODY), "x-github-event": "ping"}
    response = await api.post("/hooks/guides/site", content=BODY, headers=headers)
    assert (response.status_code, response.json()) == (200, {"status": "ignored"})
    assert not await JobStore(database).recent(limit=1)


async def test_without_a_secret_no_hook_is_taken(connect: Connect, database: Database) -> None:
    client = await connect(knows({}), FakeAgent(says("x")))
    headers = {"x-hub-signature-256": sign(BODY, "")}
    response = await client.post("/hooks/guides/site", content=BODY, headers=headers)
    assert (response.status_code, response.json()["code"]) == (401, "bad_signature")


def test_the_secret_and_the_window_come_from_the_environment_and_are_bounded() -> None:
    given = {"VOUCH_WEBHOOK_SECRET": SECRET, "VOUCH_WEBHOOK_WINDOW_SECONDS": "60"}
    with environment(**given, VOUCH_SIGNING_KEY="0123456789abcdef"):
        settings = load_settings({})
    assert settings.webhook_secret.get_secret_value() == SECRET
    assert settings.webhook_window_seconds == 60
    with pytest.raises(ValidationError, match="16 bytes"):
        ApiSettings(webhook_secret=SecretStr("short"))
