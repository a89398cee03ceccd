"""``vouch migrate``: the only way tables come to be or change."""

from __future__ import annotations

import time

from cli.console import err
from cli.settings import UpSettings
from storage.errors import DatabaseUnavailableError
from storage.migrate import upgrade

_PAUSE_SECONDS = 0.5


def database_urls(settings: UpSettings) -> list[str]:
    """Return the databases of this installation: one server, or a SQLite file a process."""
    if settings.database_url:
        return [settings.database_url]
    folder = settings.data_dir.resolve()
    return [f"sqlite+aiosqlite:///{folder / name}" for name in ("vouch.db", "audit.db")]


def run_migrate(settings: UpSettings, *, quiet: bool = False, wait_seconds: float = 0.0) -> None:
    """Bring every database to this version's tables.

    Args:
        settings: Where the databases are.
        quiet: Print nothing.
        wait_seconds: How long to wait for a database that cannot be reached.

    Raises:
        SchemaError: A database is newer than this program.
        DatabaseUnavailableError: One cannot be reached.
    """
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + wait_seconds
    for url in database_urls(settings):
        revision = _upgrade_when_there(url, deadline)
        if not quiet:
            err.print(f"{url.rpartition('/')[2]} is at revision {revision}")


def _upgrade_when_there(url: str, deadline: float) -> str:
    while True:
        try:
            return upgrade(url)
        except DatabaseUnavailableError:
            if time.monotonic() + _PAUSE_SECONDS > deadline:
                raise
        time.sleep(_PAUSE_SECONDS)
