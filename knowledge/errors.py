"""Errors of reaching evidence.

Tree:
    KnowledgeError
      KnowledgeUnavailableError   tool server or index cannot be reached or refuses to serve
      KnowledgeTimeoutError       a call went over its deadline
      ToolContractError           the server's tools or answers are not those pinned at build time
      ToolRefusedError            a well-formed call that the tool refuses; the caller can mend it
      BuildGoneError              the pinned build is no longer loaded
      KnowledgeLimitedError       the caller made too many calls in too short a time
"""

from __future__ import annotations

from service.errors import VouchError


class KnowledgeError(VouchError):
    """Root of the errors of reaching evidence."""

    code = "knowledge_error"


class KnowledgeUnavailableError(KnowledgeError):
    """The tool server or the index cannot be reached or refuses to serve."""

    code = "knowledge_unavailable"


class KnowledgeTimeoutError(KnowledgeError):
    """A call went over its deadline."""

    code = "knowledge_timeout"


class ToolContractError(KnowledgeError):
    """The server's tools or answers differ from what this build was made for."""

    code = "tool_contract"


class ToolRefusedError(KnowledgeError):
    """A well-formed call that the tool refuses, with the tool's own code and message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class BuildGoneError(KnowledgeError):
    """The build a call was pinned to is no longer loaded."""

    code = "build_gone"


class KnowledgeLimitedError(KnowledgeError):
    """The caller made too many calls in too short a time.

    Attributes:
        retry_after_seconds: When the next one may be made.
    """

    code = "rate_limited"

    def __init__(self, message: str, *, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds
