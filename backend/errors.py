"""Errors of the API itself; those of evidence and agents have trees of their own.

Tree:
    BackendError
      OverloadedError         every place and every waiting place is taken
      AskTimeoutError         an ask went over its total deadline
      RecordUnavailableError  the record could not be stored, so the answer is not given
      UnknownAskError         no record with this id that the caller may read
      AskPendingError         a queued question that is not answered yet
      AskFailedError          a queued question that could not be answered
      UnknownModelError       a chat completion was asked of a model that is not here
      ForeignRequestError     a request meant for another host or sent by another site
      RequestTooLargeError    a body over the limit
      AdminRequiredError      the sender may not change the index
      BadOrderError           an order for the index that no worker could carry out
      UnknownJobError         no job with this id
      UnknownSourceError      a webhook names a source that was never read
      BadSignatureError       a webhook is not signed as agreed
      JobStateError           a job is not in a state in which this can be done to it
      NoWorkerError           no worker has announced itself yet
      NotAuthenticatedError   a key is needed, or the one given is not valid
      ScopeMissingError       the caller's key is not for this
      TooManyRequestsError    a key or an address asks more often than it may
"""

from __future__ import annotations

from service.errors import VouchError
from service.rate import Standing


class BackendError(VouchError):
    """Root of the errors of the API itself."""

    code = "backend_error"


class OverloadedError(BackendError):
    """Every place and every waiting place is taken.

    Attributes:
        retry_after_seconds: When to try again.
    """

    code = "overloaded"

    def __init__(self, message: str, *, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class AskTimeoutError(BackendError):
    """An ask went over its total deadline."""

    code = "ask_timeout"


class RecordUnavailableError(BackendError):
    """The record could not be stored, so the answer is not given."""

    code = "record_unavailable"


class UnknownAskError(BackendError):
    """There is no record with this id that the caller may read."""

    code = "unknown_ask"


class AskPendingError(BackendError):
    """A queued question is not answered yet, so it has no record."""

    code = "ask_pending"


class AskFailedError(BackendError):
    """A queued question could not be answered, so it has no record."""

    code = "ask_failed"


class UnknownModelError(BackendError):
    """A chat completion was asked of a model that is not here."""

    code = "unknown_model"


class ForeignRequestError(BackendError):
    """The request was meant for another host, or another site sent it."""

    code = "foreign_request"


class RequestTooLargeError(BackendError):
    """The body is over the limit."""

    code = "request_too_large"


class AdminRequiredError(BackendError):
    """The sender may not change the index."""

    code = "admin_required"


class BadOrderError(BackendError):
    """An order for the index that no worker could carry out."""

    code = "bad_order"


class UnknownJobError(BackendError):
    """There is no job with this id."""

    code = "unknown_job"


class UnknownSourceError(BackendError):
    """A webhook names a source that was never read."""

    code = "unknown_source"


class BadSignatureError(BackendError):
    """A webhook is not signed as agreed, or no webhook is taken."""

    code = "bad_signature"


class JobStateError(BackendError):
    """The job is not in a state in which this can be done to it."""

    code = "job_state"


class NoWorkerError(BackendError):
    """No worker has announced itself yet."""

    code = "no_worker"


class NotAuthenticatedError(BackendError):
    """A key is needed, or the one given is not valid."""

    code = "not_authenticated"


class ScopeMissingError(BackendError):
    """The caller's key is not for this."""

    code = "scope_missing"


class TooManyRequestsError(BackendError):
    """A key or an address asks more often than it may.

    Attributes:
        standing: How it stands, and when it may again.
        whose: ``key`` or ``address``: the name of the limit.
    """

    code = "rate_limited"

    def __init__(self, standing: Standing, whose: str) -> None:
        rate = standing.rate
        super().__init__(
            f"more than {rate.count} requests in {rate.period_seconds:g} seconds from this {whose}"
        )
        self.standing = standing
        self.whose = whose
