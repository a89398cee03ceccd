"""Errors of the context tools; every one is a refusal that a better call would avoid.

Tree:
    ContextError
      BadInputError      an argument is empty, malformed or out of bounds
      UnscopedError      a memory call without a scope
      BadFilterError     a filter that cannot be read
      DoesNotFitError    what must be kept is larger than the budget
      BudgetSpentError   the caller's tokens or calls are used up
"""

from __future__ import annotations

from service.errors import VouchError


class ContextError(VouchError):
    """Root of the errors of the context tools."""

    code = "context_error"


class BadInputError(ContextError):
    """An argument is empty, malformed or out of bounds."""

    code = "bad_input"


class UnscopedError(ContextError):
    """A memory call without a scope; the message shows a right one."""

    code = "unscoped"


class BadFilterError(ContextError):
    """A filter that cannot be read; the message names the place."""

    code = "bad_filter"


class DoesNotFitError(ContextError):
    """What must be kept is larger than the budget."""

    code = "does_not_fit"


class BudgetSpentError(ContextError):
    """The caller's tokens or calls are used up."""

    code = "budget_spent"
