"""``vouch smoke``: the command around one walk through an installation."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.failures import report_failures


def smoke(
    url: Annotated[str, typer.Argument(help="Address of the API.")] = "",
    *,
    mcp_url: Annotated[str, typer.Option(help="Address of the tool server.")] = "",
    question: Annotated[str, typer.Option(help="One that the documents answer.")] = "",
    unanswerable: Annotated[
        str, typer.Option(help="One that they do not.")
    ] = "How long should I boil an egg for a runny yolk?",
) -> None:
    """Call the four tools, get one answer and one refusal, and compare the tools' digest."""
    from cli.smoke import run_smoke

    with report_failures():
        run_smoke(url, mcp_url=mcp_url, question=question, unanswerable=unanswerable)
