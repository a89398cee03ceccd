"""``vouch builds ...`` and ``vouch verify``: what is published, what was, and moving it."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from cli.failures import report_failures

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

app = typer.Typer(
    no_args_is_help=True, help="List, publish, roll back, rebuild and clean up builds of the index."
)


@app.command("list")
def builds_list(*, as_json: Json = False) -> None:
    """List every complete build; the one in force is marked."""
    from cli.builds import run_list

    with report_failures():
        run_list(as_json=as_json)


@app.command("publish")
def builds_publish(build: str) -> None:
    """Put a build in force."""
    from cli.builds import run_publish

    with report_failures():
        run_publish(build)


@app.command("rollback")
def builds_rollback() -> None:
    """Put the build before the one in force back in force."""
    from cli.builds import run_rollback

    with report_failures():
        run_rollback()


@app.command("rebuild")
def builds_rebuild(
    *,
    engine: Annotated[
        Literal["same", "embedded", "qdrant"], typer.Option(help="Where the new build goes.")
    ] = "same",
    to: Annotated[str, typer.Option(help="Address of a Qdrant server, or a data folder.")] = "",
) -> None:
    """Make the index anew from kept texts and vectors, without one call of a model."""
    from cli.builds import run_rebuild

    with report_failures():
        run_rebuild(engine, to)


@app.command("gc")
def builds_gc(keep: Annotated[int, typer.Option(min=1, help="Builds to keep.")] = 3) -> None:
    """Remove old builds and what interrupted runs left behind."""
    from cli.builds import run_gc

    with report_failures():
        run_gc(keep)


def verify(
    *,
    expect: Annotated[str, typer.Option(help="MIN:MAX chunks; anything else fails.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check the build in force chunk by chunk; exits non-zero when anything is wrong."""
    from cli.builds import run_verify

    with report_failures():
        run_verify(expect, as_json=as_json)
