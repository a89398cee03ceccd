"""``vouch keys``: the commands around API keys."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.failures import report_failures

app = typer.Typer(no_args_is_help=True, help="Make, list and revoke API keys.")


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Whose key it is, for people.")],
    *,
    scope: Annotated[
        list[str] | None, typer.Option(help="ask, ingest, metrics or admin; may be repeated.")
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option(help="Access label it grants; may be repeated.")
    ] = None,
    daily_tokens: Annotated[
        int,
        typer.Option(min=0, max=2_000_000_000, help="Model tokens a day; 0: no budget of its own."),
    ] = 0,
) -> None:
    """Make a key and print it, once. Without --scope it may ask and nothing else."""
    from cli.keys import run_create

    with report_failures():
        run_create(name, scope or ["ask"], label or [], daily_tokens=daily_tokens)


@app.command("list")
def list_keys(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False
) -> None:
    """List every key, without its secret."""
    from cli.keys import run_list

    with report_failures():
        run_list(as_json=as_json)


@app.command()
def revoke(key_id: str) -> None:
    """Make a key invalid at once."""
    from cli.keys import run_revoke

    with report_failures():
        run_revoke(key_id)
