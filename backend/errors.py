"""Errors of the API itself; those of evidence and agents have trees of their own.

Tree:
    BackendError
      OverloadedError         every place and every waiting place is taken
      AskTimeoutError         an ask went over its total deadline
      RecordUnavailableError  the record could not be stored, so the answer is not given
      UnknownAskError         no record with this id that the caller may read
      UnknownModelError       a chat completion was asked of a model that is not here
      ForeignRequestError     a request meant for another host or sent by another site
      RequestTooLargeError    a body over the limit
"""

from __future__ import annotations

from service.errors import VouchError


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


class UnknownModelError(BackendError):
    """A chat completion was asked of a model that is not here."""

    code = "unknown_model"


class ForeignRequestError(BackendError):
    """The request was meant for another host, or another site sent it."""

    code = "foreign_request"


class RequestTooLargeError(BackendError):
    """The body is over the limit."""

    code = "request_too_large"
