"""Summaries kept beside the builds: a SQLite file that several processes may share."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from threading import Lock

from ingestion.errors import IngestionError

_WAIT_SECONDS = 10.0


class SqliteSummaryCache:
    """Sentences by the hash of what they were made from.

    Args:
        path: The file, made when absent.

    Raises:
        IngestionError: The file cannot be opened or is not such a file.
    """

    def __init__(self, path: Path) -> None:
        self._lock = Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=_WAIT_SECONDS, check_same_thread=False, isolation_level=None
            )
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS summaries (key BLOB PRIMARY KEY, text TEXT NOT NULL) "
                "WITHOUT ROWID"
            )
        except (sqlite3.Error, OSError) as error:
            raise IngestionError(f"the summaries in {path} cannot be used: {error}") from error

    def get(self, key: bytes) -> str | None:
        """Return a sentence, or None."""
        with self._lock:
            row: tuple[str] | None = self._connection.execute(
                "SELECT text FROM summaries WHERE key = ?", (key,)
            ).fetchone()
        return row[0] if row else None

    def put(self, key: bytes, text: str) -> None:
        """Keep a sentence."""
        with self._lock:
            self._connection.execute(
                "INSERT OR REPLACE INTO summaries (key, text) VALUES (?, ?)", (key, text)
            )

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
