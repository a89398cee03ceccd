"""Imports every table, so that the metadata is complete for migrations and their test."""

from __future__ import annotations

from storage.asks import AskRecord
from storage.audit import AuditEntry
from storage.calibrations import CalibrationRecord
from storage.schema import Table

TABLES = (AskRecord, AuditEntry, CalibrationRecord)
METADATA = Table.metadata
