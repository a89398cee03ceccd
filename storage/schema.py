"""The set of all tables, with names for constraints that both databases agree on."""

from __future__ import annotations

from sqlalchemy import MetaData
from sqlmodel import SQLModel

NAMING = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Table(SQLModel):
    """Base of every table of ours; its metadata is what migrations are compared with."""

    metadata = MetaData(naming_convention=NAMING)
