"""Errors of the ingestion.

Tree:
    IngestionError
      UnreadableError    one document cannot be read; it is listed with the reason, others go on
      SourceError        a whole source cannot be reached or names nothing
      EmptyRunError      a run ended without a single chunk
      CarryOverError     the previous build's records are missing, so its sources cannot be kept
      VanishedError      too much of a source is gone at once to believe it
      BusyError          another run is writing to the same collection
      VerificationError  a build does not hold what the run wrote
      UnknownBuildError  there is no such build to put in force
"""

from __future__ import annotations

from service.errors import VouchError


class IngestionError(VouchError):
    """Root of the errors of the ingestion."""

    code = "ingestion_error"


class UnreadableError(IngestionError):
    """One document cannot be read; the message is the reason shown to the user."""

    code = "unreadable_document"


class SourceError(IngestionError):
    """A whole source cannot be reached or names nothing."""

    code = "bad_source"


class EmptyRunError(IngestionError):
    """A run ended without a single chunk; nothing was published."""

    code = "empty_run"


class CarryOverError(IngestionError):
    """The previous build's records are missing, so its other sources cannot be kept."""

    code = "carry_over_failed"


class VanishedError(IngestionError):
    """Too much of a source is gone at once to believe that it was meant."""

    code = "source_vanished"


class BusyError(IngestionError):
    """Another run is writing to the same collection."""

    code = "ingestion_busy"


class VerificationError(IngestionError):
    """A build does not hold what the run wrote; it was not published."""

    code = "verification_failed"


class UnknownBuildError(IngestionError):
    """There is no such build to put in force."""

    code = "unknown_build"
