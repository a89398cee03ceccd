"""Keys on both databases: found by their secret, kept as a digest, revoked at once."""

from __future__ import annotations

from storage import migrate
from storage.database import Database
from storage.keys import KeyStore, new_key
from tests.storage.test_migrate import use


def test_a_key_is_known_until_it_is_revoked(url: str) -> None:
    migrate.upgrade(url)

    async def work(database: Database) -> None:
        store = KeyStore(database)
        key, record = new_key("desk", ["ask"], ["staff", "staff"], daily_tokens=5)
        await store.save(record)
        found = await store.verify(key)
        assert found is not None
        assert (found.scopes, found.labels, found.daily_tokens) == (["ask"], ["staff"], 5)
        assert await store.revoke(record.id)
        assert await store.verify(key) is None
        assert not await store.revoke(record.id)
        assert [one.revoked_at is not None for one in await store.all()] == [True]

    use(url, work)


def test_nothing_but_the_whole_key_is_accepted(url: str) -> None:
    migrate.upgrade(url)

    async def work(database: Database) -> None:
        store = KeyStore(database)
        key, record = new_key("desk", ["ask"], [])
        await store.save(record)
        for wrong in ("", "vk", record.id, record.digest, key[:-1], f"{key}x", f"vk_{record.id}_"):
            assert await store.verify(wrong) is None
        assert key.rpartition("_")[2] not in record.digest

    use(url, work)
