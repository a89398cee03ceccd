"""Turns an expected failure into one clear line and a non-zero exit, at the edge of the process."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

import httpx
from pydantic import ValidationError
from rich.markup import escape

from cli.console import err
from service.errors import VouchError

# Libraries of the `evals` extra: a server does without them.
_MEASURING = frozenset({"sklearn", "matplotlib", "pytrec_eval"})


@contextmanager
def report_failures() -> Generator[None]:
    """Print what went wrong without a stack trace, and exit with 1; settings errors exit with 2.

    A folder that cannot be written and a full disk are such failures too: they are the machine's,
    not the program's.
    """
    try:
        yield
    except VouchError as error:
        err.print(f"[bold red]{error.code}[/bold red]: {escape(str(error))}")
        sys.exit(1)
    except ValidationError as error:
        for problem in error.errors():
            place = ".".join(str(part) for part in problem["loc"])
            err.print(f"[bold red]bad setting[/bold red] {escape(place)}: {escape(problem['msg'])}")
        sys.exit(2)
    except ModuleNotFoundError as error:
        if error.name not in _MEASURING:
            raise
        err.print(
            f"[bold red]not installed[/bold red]: measuring needs {error.name}, which serving does "
            "not; `make measure` installs what evaluation and calibration need"
        )
        sys.exit(2)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        err.print(f"[bold red]unreachable[/bold red]: {escape(str(error) or type(error).__name__)}")
        sys.exit(1)
    except OSError as error:
        err.print(f"[bold red]file_error[/bold red]: {escape(_describe(error))}")
        sys.exit(1)


def _describe(error: OSError) -> str:
    """Return the path first: it is what the person can do something about."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename else reason
