"""A database that is not there yet is waited for, as long as was said and no longer."""

from __future__ import annotations

import threading
from urllib.parse import urlsplit

import pytest

from cli.migrate import run_migrate
from cli.settings import UpSettings
from storage import migrate
from storage.errors import DatabaseUnavailableError
from tests.faults.proxy import open_proxy
from tests.storage.conftest import postgres_url

__all__ = ["postgres_url"]

pytestmark = pytest.mark.postgres


def test_a_migration_waits_for_its_database(postgres_url: str) -> None:
    port = urlsplit(postgres_url).port or 5432
    with open_proxy(port, "absent") as line:
        settings = UpSettings(database_url=postgres_url.replace(f":{port}/", f":{line.port}/"))
        with pytest.raises(DatabaseUnavailableError):
            run_migrate(settings, quiet=True)
        work = threading.Thread(
            target=run_migrate, args=(settings,), kwargs={"quiet": True, "wait_seconds": 60.0}
        )
        work.start()
        line.be("pass")
        work.join(60)
    assert migrate.current(postgres_url) == migrate.head()
