"""The commands ``vouch backup`` and ``vouch restore``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.failures import report_failures


def backup(folder: Annotated[Path, typer.Argument(help="New folder to write.")]) -> None:
    """Keep index, databases, calibrations, uploads and secrets in a folder; nothing is stopped."""
    from cli.backup import run_backup
    from cli.settings import UpSettings

    with report_failures():
        run_backup(UpSettings(), folder)


def restore(folder: Annotated[Path, typer.Argument(help="What `vouch backup` wrote.")]) -> None:
    """Put a backup into an empty data folder and empty databases, with everything stopped."""
    from cli.backup import run_restore
    from cli.settings import UpSettings

    with report_failures():
        run_restore(UpSettings(), folder)
