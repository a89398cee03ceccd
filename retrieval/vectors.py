"""Dense vectors kept beside the builds, so that no text is ever embedded twice.

Carry-over, rebuilds, evaluations and replays read from here and never open a build that is being
served. A row's key is a hash of the model's digest, its prefix and the embedded text.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import numpy as np

from retrieval.chunk import DenseVector
from retrieval.errors import IndexUnavailableError

_KEYS_PER_STATEMENT = 500
_WAIT_SECONDS = 10.0


def vector_key(model_digest: str, prefix: str, text: str) -> bytes:
    """Return the key of a text's vector under one model and prefix, 16 bytes."""
    parts = f"{model_digest}\x00{prefix}\x00{text}"
    return hashlib.blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class VectorCache:
    """A SQLite file of vectors; several processes and threads may share it.

    Args:
        path: The file, made when absent.

    Raises:
        IndexUnavailableError: The file cannot be opened or is not such a file.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._lock = Lock()
        with self._errors():
            self._connection = sqlite3.connect(
                path, timeout=_WAIT_SECONDS, check_same_thread=False, isolation_level=None
            )
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) "
                "WITHOUT ROWID"
            )

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, DenseVector]:
        """Return the vectors that are known; a key without one is absent from the result."""
        found: dict[bytes, DenseVector] = {}
        with self._errors(), self._lock:
            for start in range(0, len(keys), _KEYS_PER_STATEMENT):
                part = keys[start : start + _KEYS_PER_STATEMENT]
                marks = ",".join("?" * len(part))
                rows = self._connection.execute(
                    f"SELECT key, vector FROM vectors WHERE key IN ({marks})",  # noqa: S608 - marks
                    part,
                )
                found.update((key, np.frombuffer(raw, dtype=np.float32)) for key, raw in rows)
        return found

    def put_many(self, vectors: Mapping[bytes, DenseVector]) -> None:
        """Keep vectors, in one transaction; a key already there keeps what it has."""
        rows = [(key, np.asarray(v, dtype=np.float32).tobytes()) for key, v in vectors.items()]
        with self._errors(), self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany(
                    "INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows
                )
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise

    def count(self) -> int:
        """Return the number of vectors kept."""
        with self._errors(), self._lock:
            return int(self._connection.execute("SELECT count(*) FROM vectors").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _errors(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise IndexUnavailableError(f"the vector file {self._path} failed: {error}") from error
