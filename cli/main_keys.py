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
        list[str] | None,
        typer.Option(help="ask, review, ingest, metrics, admin; may be repeated."),
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


@app.command("mcp-token")
def mcp_token(
    name: Annotated[str, typer.Argument(help="Whose token it is; stands in the audit.")],
    *,
    scope: Annotated[str, typer.Option(help="search or context.")] = "search",
    label: Annotated[
        list[str] | None, typer.Option(help="Access label it grants; may be repeated.")
    ] = None,
    source: Annotated[str, typer.Option(help="The one source it may see; empty: any.")] = "",
    days: Annotated[int, typer.Option(min=1, max=3650, help="How long it is good for.")] = 90,
) -> None:
    """Make a token for an agent that calls the tool server itself, and print it."""
    from cli.mcp_token import run_mcp_token

    with report_failures():
        run_mcp_token(name, scope=scope, labels=label or [], source=source, days=days)
