"""Errors of the answering agents.

Tree:
    AgentError
      ModelUnavailableError   the model endpoint cannot be reached or answers an error status
      ModelTimeoutError       the model went over its deadline
      ModelGarbageError       the endpoint answers what no chat model answers
"""

from __future__ import annotations

from service.errors import VouchError


class AgentError(VouchError):
    """Root of the errors of an answering agent."""

    code = "agent_error"


class ModelUnavailableError(AgentError):
    """The model endpoint cannot be reached, or answers with an error status."""

    code = "model_unavailable"


class ModelTimeoutError(AgentError):
    """The model went over its deadline."""

    code = "model_timeout"


class ModelGarbageError(AgentError):
    """The endpoint answers what no chat model answers: a page, no choices, broken JSON."""

    code = "model_garbage"
