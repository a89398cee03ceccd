"""Errors of the evaluations.

Tree:
    EvalError
      EvalSetError              a set cannot be read, or lacks what an evaluation needs
      CalibrationRefusedError   no threshold is emitted, and why
"""

from __future__ import annotations

from service.errors import VouchError


class EvalError(VouchError):
    """Root of the errors of the evaluations."""

    code = "eval_error"


class EvalSetError(EvalError):
    """A set cannot be read, or lacks what an evaluation needs; names the file and line."""

    code = "eval_set"


class CalibrationRefusedError(EvalError):
    """No threshold is emitted: too few questions, or classes that do not separate."""

    code = "calibration_refused"

    def __init__(self, message: str, blockers: tuple[str, ...] = ()) -> None:
        """Keep the questions at fault.

        Args:
            message: The reason, with its numbers.
            blockers: One line for each question that stands in the way, worst first.
        """
        super().__init__(message)
        self.blockers = blockers
