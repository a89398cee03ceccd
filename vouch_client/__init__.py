"""Asks a Vouch service from Python: ``Vouch`` and, for asynchronous code, ``AsyncVouch``.

The names of a client's everyday use are re-exported here, as its users expect of a library.
"""

from vouch_client.asynchronous import AsyncVouch
from vouch_client.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotAuthenticatedError,
    NotFoundError,
    ProblemError,
    ProtocolError,
    RateLimitedError,
    ServiceUnavailableError,
    UnreachableError,
    VouchClientError,
)
from vouch_client.events import AnswerDrafted, Condensed, Done, Event, EvidenceFound, VerdictReached
from vouch_client.replies import Answer, Citation, Clarification, Passage, Refusal, Reply, Verdict
from vouch_client.synchronous import Vouch

__all__ = [
    "Answer",
    "AnswerDrafted",
    "AsyncVouch",
    "Citation",
    "Clarification",
    "Condensed",
    "Done",
    "Event",
    "EvidenceFound",
    "ForbiddenError",
    "InvalidRequestError",
    "NotAuthenticatedError",
    "NotFoundError",
    "Passage",
    "ProblemError",
    "ProtocolError",
    "RateLimitedError",
    "Refusal",
    "Reply",
    "ServiceUnavailableError",
    "UnreachableError",
    "Verdict",
    "VerdictReached",
    "Vouch",
    "VouchClientError",
]
