"""``vouch migrate``: the only way tables come to be or change."""

from __future__ import annotations

from cli.console import err
from cli.settings import UpSettings
from storage.migrate import upgrade


def database_urls(settings: UpSettings) -> list[str]:
    """Return the databases of this installation: one server, or a SQLite file a process."""
    if settings.database_url:
        return [settings.database_url]
    folder = settings.data_dir.resolve()
    return [f"sqlite+aiosqlite:///{folder / name}" for name in ("vouch.db", "audit.db")]


def run_migrate(settings: UpSettings, *, quiet: bool = False) -> None:
    """Bring every database to this version's tables.

    Raises:
        SchemaError: A database is newer than this program.
        DatabaseUnavailableError: One cannot be reached.
    """
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    for url in database_urls(settings):
        revision = upgrade(url)
        if not quiet:
            err.print(f"{url.rpartition('/')[2]} is at revision {revision}")
