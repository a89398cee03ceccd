"""The API on a real PostgreSQL: records, replay, and a health that says when it is gone."""

from __future__ import annotations

import httpx
import pytest

from storage import migrate
from tests.e2e.conftest import StartApi
from tests.storage.conftest import postgres_url

__all__ = ["postgres_url"]


@pytest.mark.postgres
def test_asks_are_recorded_and_replayed_on_postgresql(
    client: httpx.Client, start_api: StartApi, postgres_url: str
) -> None:
    migrate.upgrade(postgres_url)
    api = start_api(VOUCH_DATABASE_URL=postgres_url)
    body = client.post(f"{api.url}/ask", json={"question": "How long are backups kept?"}).json()
    assert body["status"] == "answered"
    assert client.get(f"{api.url}/asks/{body['id']}").json() == body
    assert client.post(f"{api.url}/asks/{body['id']}/replay").json()["same_verdict"]
    assert client.get(f"{api.url}/readyz").json()["status"] == "ok"
    api.stop()
