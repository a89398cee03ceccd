"""Errors of the SQL database.

Tree:
    StorageError
      DatabaseUnavailableError   the database cannot be reached, is over its deadline or locked
      SchemaError                the database's schema is not the one this code was made for
      LeaseLostError             a task of a job is in the hands of another worker
"""

from __future__ import annotations

from service.errors import VouchError


class StorageError(VouchError):
    """Root of the errors of the SQL database."""

    code = "storage_error"


class DatabaseUnavailableError(StorageError):
    """The database cannot be reached, is over its deadline or stays locked."""

    code = "database_unavailable"


class SchemaError(StorageError):
    """The database's schema is older or newer than this code; says what to do."""

    code = "database_schema"


class LeaseLostError(StorageError):
    """A task of a job is in the hands of another worker, or its job has ended."""

    code = "lease_lost"
