"""The ``vouch`` command: parse, call, print. Imports stay inside commands: help is instant."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli import main_backup, main_builds, main_eval, main_keys, main_records, main_smoke
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

Reload = Annotated[bool, typer.Option("--reload", help="In development: follow the code.")]


@app.command(rich_help_panel="Serve")
def up() -> None:
    """Start everything on this machine: index, tool server, API and pages. Ctrl-C stops it all."""
    from cli.up import run_up

    with report_failures():
        run_up()


@app.command(rich_help_panel="Serve")
def api(*, reload: Reload = False) -> None:
    """Run the API and the pages alone, with settings from the environment."""
    from backend.__main__ import main

    with report_failures():
        raise typer.Exit(main(reloads=reload))


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
def worker() -> None:
    """Run jobs of the ingestion, from the database or from RabbitMQ. `vouch up` starts one."""
    from ingestion.worker import main

    with report_failures():
        raise typer.Exit(main())


@app.command(rich_help_panel="Serve")
def embeddings() -> None:
    """Run the embedding service, for machines without models."""
    from retrieval.embedding_service import main

    with report_failures():
        raise typer.Exit(main())


@app.command(rich_help_panel="Serve")
def migrate(
    *,
    wait: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for a database that is not there yet.")
    ] = 0.0,
) -> None:
    """Bring the databases to this version's tables. `vouch up` does it by itself."""
    from cli.migrate import run_migrate
    from cli.settings import UpSettings

    with report_failures():
        run_migrate(UpSettings(), wait_seconds=wait)


@app.command(rich_help_panel="Documents")
def ingest(
    sources: Annotated[
        list[str] | None,
        typer.Argument(help="Files, folders or addresses; an llms-full.txt is taken apart."),
    ] = None,
    *,
    source: Annotated[str, typer.Option(help="Name of the source; default: from the path.")] = "",
    label: Annotated[
        list[str] | None, typer.Option(help="Access label of every document; may be repeated.")
    ] = None,
    glob: Annotated[
        str, typer.Option(help="Files of a folder to take, such as '*.md'; default: all.")
    ] = "",
    base_url: Annotated[
        str, typer.Option(help="Address the files are published under; citations lead there.")
    ] = "",
    remove: Annotated[
        list[str] | None, typer.Option(help="Name of a source to take out; may be repeated.")
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Add the sample corpus.")] = False,
    if_empty: Annotated[
        bool, typer.Option("--if-empty", help="Do nothing when a build is in force already.")
    ] = False,
    expect: Annotated[str, typer.Option(help="MIN:MAX chunks; anything else fails.")] = "",
    watch: Annotated[
        bool, typer.Option("--watch", help="Stay, and read again what changes.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Read documents and put a new build of the index in force; a running server follows."""
    from cli.ingest import run_ingest

    if not sources and not sample and not remove:
        message = "name a file, a folder or an address, or give --sample or --remove"
        raise typer.BadParameter(message)
    with report_failures():
        run_ingest(
            sources or [], name=source, labels=label or [], glob=glob, base_url=base_url,
            removed=remove or [], sample=sample, if_empty=if_empty, expect=expect,
            as_json=as_json, watch=watch,
        )  # fmt: skip


app.command(rich_help_panel="Documents")(main_builds.verify)
app.add_typer(main_eval.app, name="eval", rich_help_panel="Measure")
app.command(rich_help_panel="Measure")(main_eval.negatives)
app.add_typer(main_keys.app, name="keys", rich_help_panel="Serve")
app.add_typer(main_records.app, name="records", rich_help_panel="Serve")
app.command(rich_help_panel="Serve")(main_smoke.smoke)
app.command(rich_help_panel="Serve")(main_backup.backup)
app.command(rich_help_panel="Serve")(main_backup.restore)
app.add_typer(main_builds.app, name="builds", rich_help_panel="Documents")


@app.command(rich_help_panel="Ask")
def ask(
    question: str,
    *,
    source: Annotated[str, typer.Option(help="Only this source.")] = "",
    top_k: Annotated[int, typer.Option(min=1, max=50, help="Passages a search.")] = 4,
    url: Annotated[str, typer.Option(help="Address of the API; default: this machine.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole response.")] = False,
) -> None:
    """Ask the running system one question."""
    from cli.ask import run_ask

    with report_failures():
        run_ask(question, source=source, top_k=top_k, url=url, as_json=as_json)


@app.command(rich_help_panel="Ask")
def search(
    query: str,
    *,
    source: Annotated[str, typer.Option(help="Only this source.")] = "",
    profile: Annotated[
        str, typer.Option(help="Retrieval profile; default: the one that answers questions.")
    ] = "",
    top_n: Annotated[int, typer.Option(min=1, max=50, help="Passages to list.")] = 5,
    explain: Annotated[
        str, typer.Option(help="A chunk id: say why it is or is not in the list.")
    ] = "",
    url: Annotated[str, typer.Option(help="Address of the API; default: this machine.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole response.")] = False,
) -> None:
    """List the passages for a query with the number of every stage."""
    from cli.search import run_search

    with report_failures():
        run_search(
            query, source=source, profile=profile, top_n=top_n, explain=explain, url=url,
            as_json=as_json,
        )  # fmt: skip


@app.command(rich_help_panel="Documents")
def profiles(
    name: Annotated[str, typer.Argument(help="Explain this one, value by value.")] = "",
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the ways to build and to search, or explain one; the one in force is marked."""
    from cli.profiles import run_profiles

    with report_failures():
        run_profiles(name, as_json=as_json)


@app.command(rich_help_panel="Serve")
def doctor(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False
) -> None:
    """Say what is configured, reachable and matching, and what to do about what is not."""
    from cli.checks import run_doctor

    with report_failures():
        raise typer.Exit(0 if run_doctor(as_json=as_json) else 1)


@app.command(rich_help_panel="Measure")
def calibrate(
    folder: Annotated[
        Path | None, typer.Argument(help="Folder of labelled questions about what is served.")
    ] = None,
    *,
    leak: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Most leaks, certified at 95%.")
    ] = None,
    over_refusal: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Most refusals of good questions.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Compare live questions with the calibration's.")
    ] = False,
    newest: Annotated[
        int, typer.Option(min=1, max=10_000, help="Recorded questions that --check looks at.")
    ] = 500,
    use: Annotated[
        Path | None, typer.Option("--import", help="Put an exported artefact in force.")
    ] = None,
    negatives_from: Annotated[
        list[Path] | None,
        typer.Option(help="A set about other matters, whose questions are unanswerable here."),
    ] = None,
    export: Annotated[Path | None, typer.Option(help="Also write the artefact here.")] = None,
    reports: Annotated[
        Path | None, typer.Option(help="Folder for the reports; default: the data folder.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Fit and report, but keep nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Set the guard by labelled questions, with a certified bound, or check that it still holds."""
    from cli.calibrate import run_calibrate, run_check, run_import

    with report_failures():
        if check:
            raise typer.Exit(0 if run_check(newest, as_json=as_json) else 1)
        if use:
            run_import(use)
            return
        if folder is None:
            raise typer.BadParameter("name a folder of questions, or give --check or --import")
        run_calibrate(
            folder,
            kind="leak" if leak is not None else "over_refusal",
            limit=leak if leak is not None else over_refusal if over_refusal is not None else 0.05,
            negatives_from=negatives_from or [],
            export=export,
            reports=reports,
            keep=not dry_run,
            as_json=as_json,
        )


@app.command(rich_help_panel="Measure")
def replay(
    ask_id: str,
    *,
    present: Annotated[
        bool, typer.Option("--present", help="Against the build and rule now in force.")
    ] = False,
    url: Annotated[str, typer.Option(help="Address of the API; default: this machine.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Search and judge a recorded question again, and say what is different."""
    from cli.replay import run_replay

    with report_failures():
        run_replay(ask_id, present=present, url=url, as_json=as_json)


def main() -> None:
    """Entry point of ``python -m cli.main``."""
    app()


if __name__ == "__main__":
    main()
