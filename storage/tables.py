"""Imports every table, so that the metadata is complete for migrations and their test."""

from __future__ import annotations

from storage.asks import AskRecord
from storage.audit import AuditEntry
from storage.calibrations import CalibrationRecord
from storage.feedback import FeedbackRecord
from storage.index_view import IndexViewRecord, SourceRecord, WorkerRecord
from storage.jobs import JobRecord, TaskRecord
from storage.keys import ApiKeyRecord
from storage.labels import LabelRecord
from storage.queued_asks import QueuedAskRecord
from storage.schema import Table
from storage.spending import SpendingRecord

TABLES = (
    AskRecord,
    AuditEntry,
    CalibrationRecord,
    FeedbackRecord,
    LabelRecord,
    JobRecord,
    TaskRecord,
    WorkerRecord,
    IndexViewRecord,
    SourceRecord,
    ApiKeyRecord,
    SpendingRecord,
    QueuedAskRecord,
)
METADATA = Table.metadata
