"""API keys: who may do what, and which labelled evidence they may see. Only digests are kept."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, get_args

from sqlalchemy import JSON
from sqlmodel import Field, col, select

from storage.columns import UtcDateTime, utc_now
from storage.database import Database
from storage.schema import Table

KeyScope = Literal["ask", "review", "ingest", "admin", "metrics"]
KEY_SCOPES: tuple[KeyScope, ...] = get_args(KeyScope)

_PREFIX = "vk"
_ID_BYTES = 6
_SECRET_BYTES = 32


class ApiKeyRecord(Table, table=True):
    """One key.

    Attributes:
        id: The public part of the key, by which it is found and revoked.
        digest: SHA-256 of the whole key, hexadecimal. The secret has 256 random bits, so a slow
            hash would only slow down whoever holds it rightly.
        scopes: What it may be used for; ``admin`` includes every other.
        labels: Access labels it grants.
        daily_tokens: Model tokens it may use in a UTC day; zero for no budget of its own.
        revoked_at: When it stopped being valid; None while it is.
    """

    __tablename__ = "api_keys"  # pyright: ignore[reportAssignmentType] - declared as a method

    id: str = Field(primary_key=True)
    name: str = ""
    digest: str
    scopes: list[str] = Field(sa_type=JSON)
    labels: list[str] = Field(default_factory=list, sa_type=JSON)
    daily_tokens: int = 0
    created_at: datetime = Field(default_factory=utc_now, sa_type=UtcDateTime)
    revoked_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


def new_key(
    name: str, scopes: Sequence[KeyScope], labels: Sequence[str], *, daily_tokens: int = 0
) -> tuple[str, ApiKeyRecord]:
    """Return a new key and its record; the key itself is nowhere else.

    Args:
        name: For people and records; not unique.
        scopes: What it may be used for.
        labels: Access labels it grants.
        daily_tokens: Model tokens a UTC day; zero for no budget of its own.
    """
    key_id = secrets.token_hex(_ID_BYTES)
    key = f"{_PREFIX}_{key_id}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    record = ApiKeyRecord(
        id=key_id,
        name=name,
        digest=_digest(key),
        scopes=sorted(set(scopes)),
        labels=sorted(set(labels)),
        daily_tokens=daily_tokens,
    )
    return key, record


class KeyStore:
    """Saves, finds and revokes keys.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, record: ApiKeyRecord) -> None:
        """Store a key's record.

        Raises:
            DatabaseUnavailableError: It could not be stored.
        """
        async with self._database.write() as session:
            session.add(record)

    async def verify(self, key: str) -> ApiKeyRecord | None:
        """Return the record of a key that is valid now, or None.

        Raises:
            DatabaseUnavailableError: The database cannot be read.
        """
        prefix, _, rest = key.partition("_")
        key_id, _, secret = rest.partition("_")
        if prefix != _PREFIX or not secret:
            return None
        async with self._database.read() as session:
            record = await session.get(ApiKeyRecord, key_id)
        if record is None or record.revoked_at is not None:
            return None
        return record if hmac.compare_digest(record.digest, _digest(key)) else None

    async def still_valid(self, key_id: str) -> ApiKeyRecord | None:
        """Return the record of a key that was shown earlier and is valid now, or None.

        Raises:
            DatabaseUnavailableError: The database cannot be read.
        """
        async with self._database.read() as session:
            record = await session.get(ApiKeyRecord, key_id)
        return None if record is None or record.revoked_at is not None else record

    async def all(self) -> Sequence[ApiKeyRecord]:
        """Return every key, revoked ones included, oldest first."""
        query = select(ApiKeyRecord).order_by(col(ApiKeyRecord.created_at), col(ApiKeyRecord.id))
        async with self._database.read() as session:
            return (await session.exec(query)).all()

    async def revoke(self, key_id: str) -> bool:
        """Make a key invalid at once; says whether there was a valid one with this id."""
        async with self._database.write() as session:
            record = await session.get(ApiKeyRecord, key_id)
            if record is None or record.revoked_at is not None:
                return False
            record.revoked_at = utc_now()
            session.add(record)
            return True


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
