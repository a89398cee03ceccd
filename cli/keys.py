"""``vouch keys``: API keys are made, listed and revoked on the machine that has the database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from rich.table import Table
from rich.text import Text

from cli.console import err, out, print_json
from cli.settings import UpSettings, gather_environment, read_settings
from service.errors import VouchError
from storage.columns import utc_now
from storage.database import Database, database_url
from storage.keys import KEY_SCOPES, ApiKeyRecord, KeyScope, KeyStore, new_key
from storage.spending import SpendingRecord, SpendingStore

_Result = TypeVar("_Result")


class KeyCommandError(VouchError):
    """What was asked of a key cannot be done; the message says why."""

    code = "bad_key_command"


def run_create(
    name: str, scopes: Sequence[str], labels: Sequence[str], *, daily_tokens: int
) -> None:
    """Make a key and print it, once: only its digest is kept.

    Raises:
        KeyCommandError: A scope is unknown.
        DatabaseUnavailableError: The key could not be stored.
    """
    unknown = sorted(set(scopes) - set(KEY_SCOPES))
    if unknown:
        raise KeyCommandError(f"unknown scope {', '.join(unknown)}; known: {', '.join(KEY_SCOPES)}")
    chosen: list[KeyScope] = [scope for scope in KEY_SCOPES if scope in scopes]
    key, record = new_key(name, chosen, labels, daily_tokens=daily_tokens)
    _with_store(lambda store: store.save(record))
    err.print(f"key {record.id}: {', '.join(record.scopes)}; it is shown this once")
    out.print(Text(key), soft_wrap=True)


def run_list(*, as_json: bool) -> None:
    """List every key, without its secret, and what each has spent today."""
    records, spending = _with_database(_read_keys)
    if as_json:
        print_json(
            {
                "keys": [
                    {
                        **ApiKeyRecord.model_dump(one, mode="json", exclude={"digest"}),
                        "tokens_today": _spent(spending, f"key-{one.id}"),
                    }
                    for one in records
                ],
                "tokens_today": _spent(spending, "all"),
            }
        )
        return
    table = Table("id", "name", "scopes", "labels", "tokens today", "a day", "made", "state")
    for one in records:
        table.add_row(
            one.id,
            Text(one.name),
            ", ".join(one.scopes),
            Text(", ".join(one.labels)),
            str(_spent(spending, f"key-{one.id}")),
            str(one.daily_tokens or ""),
            f"{one.created_at:%Y-%m-%d}",
            f"revoked {one.revoked_at:%Y-%m-%d}" if one.revoked_at else "valid",
        )
    out.print(table)


def run_revoke(key_id: str) -> None:
    """Make a key invalid at once.

    Raises:
        KeyCommandError: There is no valid key with this id.
    """
    if not _with_store(lambda store: store.revoke(key_id)):
        raise KeyCommandError(f"there is no valid key {key_id}")
    err.print(f"key {key_id} is revoked")


async def _read_keys(
    database: Database,
) -> tuple[Sequence[ApiKeyRecord], Mapping[str, SpendingRecord]]:
    today = await SpendingStore(database).on(utc_now().date())
    return await KeyStore(database).all(), today


def _spent(spending: Mapping[str, SpendingRecord], account: str) -> int:
    found = spending.get(account)
    return found.spent + found.reserved if found else 0


def _with_store(work: Callable[[KeyStore], Awaitable[_Result]]) -> _Result:
    return _with_database(lambda database: work(KeyStore(database)))


def _with_database(work: Callable[[Database], Awaitable[_Result]]) -> _Result:
    settings = read_settings(UpSettings, gather_environment(Path(".env")))
    url = database_url(settings.database_url, settings.data_dir, "vouch")

    async def run() -> _Result:
        database = Database(url)
        try:
            return await work(database)
        finally:
            await database.close()

    return asyncio.run(run())
