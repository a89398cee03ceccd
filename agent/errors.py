"""Errors of the answering agents.

Tree:
    AgentError
      ModelUnavailableError   the model endpoint cannot be reached or answers an error status
        ModelRestingError     it failed again and again, and is left alone for a while
        ModelRejectedError    it answers that the request itself is wrong (status 400, 404, 422)
      ModelTimeoutError       the model went over its deadline
      ModelGarbageError       the endpoint answers what no chat model answers
      CallBudgetSpentError    the ask has no tool call left; handled inside the agent
      DailyTokensSpentError   a daily budget has too few model tokens left
      BudgetUnavailableError  nobody can say what is left of a daily budget
"""

from __future__ import annotations

from datetime import datetime

from service.errors import VouchError


class AgentError(VouchError):
    """Root of the errors of an answering agent."""

    code = "agent_error"


class ModelUnavailableError(AgentError):
    """The model endpoint cannot be reached, or answers with an error status."""

    code = "model_unavailable"


class ModelRestingError(ModelUnavailableError):
    """The endpoint failed again and again, and is left alone for a while.

    Attributes:
        retry_after_seconds: Until the next try.
    """

    def __init__(self, message: str, *, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class ModelRejectedError(ModelUnavailableError):
    """The endpoint says that the request is wrong: unknown model, parameter it does not take."""

    code = "model_rejected"

    @property
    def concerns_tools(self) -> bool:
        """Whether the endpoint complains that the request carries tools."""
        message = str(self).casefold()
        return "tool" in message or "function" in message


class ModelTimeoutError(AgentError):
    """The model went over its deadline."""

    code = "model_timeout"


class ModelGarbageError(AgentError):
    """The endpoint answers what no chat model answers: a page, no choices, broken JSON."""

    code = "model_garbage"


class CallBudgetSpentError(AgentError):
    """The ask has no tool call left; the agent answers from what it has."""

    code = "budget_spent"


class DailyTokensSpentError(AgentError):
    """A daily budget has too few model tokens left for the call.

    Attributes:
        resets_at: When it starts anew, UTC.
        retry_after_seconds: Until then.
    """

    code = "daily_tokens_spent"

    def __init__(self, message: str, *, resets_at: datetime, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.resets_at = resets_at
        self.retry_after_seconds = retry_after_seconds


class BudgetUnavailableError(AgentError):
    """Nobody can say what is left of a daily budget, so nothing of it is spent."""

    code = "budget_unavailable"
