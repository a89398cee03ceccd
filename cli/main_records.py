"""``vouch records``: the commands around recorded questions."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.failures import report_failures

app = typer.Typer(no_args_is_help=True, help="Delete recorded questions.")


@app.command()
def delete(
    ask_id: Annotated[str, typer.Argument(help="Id of the ask; empty with --key.")] = "",
    *,
    key: Annotated[str, typer.Option(help="Every record of this key, by its id.")] = "",
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Every record of callers without a key.")
    ] = False,
) -> None:
    """Delete records with their feedback, their labels and their audit."""
    from cli.records import run_delete, run_delete_of

    if sum(map(bool, (ask_id, key, anonymous))) != 1:
        raise typer.BadParameter("give one of: an id, --key, --anonymous")
    with report_failures():
        if ask_id:
            run_delete(ask_id)
        else:
            run_delete_of(f"key-{key}" if key else "anonymous")


@app.command()
def purge(
    *, days: Annotated[int, typer.Option(min=1, help="Records older than so many days.")]
) -> None:
    """Delete old records now, as VOUCH_RETENTION_DAYS does by the hour."""
    from cli.records import run_purge

    with report_failures():
        run_purge(days)
