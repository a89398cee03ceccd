"""The ``vouch`` command: parse, call, print. Imports stay inside commands so that help is instant."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.failures import report_failures

app = typer.Typer(
    name="vouch",
    help="Answers questions about documentation, and only when the evidence vouches for it.\n\n"
    "Start with [bold]vouch up[/bold], then open the address it prints. "
    "[bold]vouch ingest PATH[/bold] adds your own documents, [bold]vouch ask[/bold] asks in the "
    "terminal, [bold]vouch doctor[/bold] says what is wrong and what to do about it.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.command(rich_help_panel="Serve")
def up() -> None:
    """Start everything on this machine: index, tool server, API and pages. Ctrl-C stops it all."""
    from cli.up import run_up

    with report_failures():
        run_up()


@app.command(rich_help_panel="Serve")
def api() -> None:
    """Run the API and the pages alone, with settings from the environment."""
    from backend.__main__ import main

    with report_failures():
        main()


@app.command(rich_help_panel="Serve")
def mcp(
    *,
    stdio: Annotated[
        bool, typer.Option("--stdio/--http", help="Bridge a desktop host to the running server.")
    ] = False,
) -> None:
    """Run the tool server: streamable HTTP, or a stdio bridge to one that is running."""
    with report_failures():
        if stdio:
            from mcp_server.stdio import main as run_bridge

            run_bridge()
        else:
            from mcp_server.__main__ import main as run_server

            run_server()


@app.command(rich_help_panel="Serve")
def migrate() -> None:
    """Bring the databases to this version's tables. `vouch up` does it by itself."""
    from cli.migrate import run_migrate

    with report_failures():
        run_migrate()


def main() -> None:
    """Entry point of ``python -m cli.main``."""
    app()


if __name__ == "__main__":
    main()
