"""Errors of the answering agents.

Tree:
    AgentError
      ModelUnavailableError   the model endpoint cannot be reached or answers an error status
        ModelRejectedError    it answers that the request itself is wrong (status 400, 404, 422)
      ModelTimeoutError       the model went over its deadline
      ModelGarbageError       the endpoint answers what no chat model answers
      CallBudgetSpentError    the ask has no tool call left; handled inside the agent
"""

from __future__ import annotations

from service.errors import VouchError


class AgentError(VouchError):
    """Root of the errors of an answering agent."""

    code = "agent_error"


class ModelUnavailableError(AgentError):
    """The model endpoint cannot be reached, or answers with an error status."""

    code = "model_unavailable"


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
