"""``vouch eval ...`` and ``vouch calibrate``: measure, and set the guard by what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from cli.failures import report_failures

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Reports = Annotated[
    Path | None,
    typer.Option(
        help="Folder for a Markdown and an HTML report with plots; default: the data folder."
    ),
]
Half = Annotated[Literal["all", "dev", "test"], typer.Option(help="Half of the questions.")]
WithModel = Annotated[
    bool,
    typer.Option("--with-model", help="Also ask the configured model; it judges answers as well."),
]
Set = Annotated[Path, typer.Argument(help="Folder of the labelled set.")]

app = typer.Typer(
    help="Measure retrieval, the verdict, citations and attacks on labelled sets.\n\n"
    "Without a subcommand: the sample corpus, its hit rate and what the default threshold costs.",
    invoke_without_command=True,
)


@app.callback()
def sample(context: typer.Context, *, reports: Reports = None, as_json: Json = False) -> None:
    """Measure the sample corpus when no subcommand is given."""
    if context.invoked_subcommand:
        return
    from cli.evaluate import run_sample

    with report_failures():
        run_sample(reports, as_json=as_json)


@app.command()
def retrieval(
    folder: Set,
    *,
    profile: Annotated[
        list[str] | None, typer.Option(help="Retrieval profile; several are compared.")
    ] = None,
    k: Annotated[int, typer.Option(min=1, max=50, help="Cut-off, in sections.")] = 3,
    split: Half = "all",
    ablation: Annotated[
        bool, typer.Option("--ablation", help="Also measure what each stage adds.")
    ] = False,
    questions: Annotated[
        bool, typer.Option(help="Let the report name the questions behind the failures.")
    ] = True,
    reports: Reports = None,
    as_json: Json = False,
) -> None:
    """How well a set's labelled sections are found."""
    from cli.evaluate import run_retrieval

    with report_failures():
        run_retrieval(
            folder, profile or ["default"], k=k, split=split, ablation=ablation,
            questions=questions, reports=reports, as_json=as_json,
        )  # fmt: skip


@app.command()
def abstention(
    folder: Set,
    *,
    calibration: Annotated[
        Path | None, typer.Option(help="An artefact made elsewhere, used unchanged.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(help="Write an artefact fitted on this set, for other sets.")
    ] = None,
    negatives_from: Annotated[
        list[Path] | None,
        typer.Option(help="A set about other matters, whose questions are unanswerable here."),
    ] = None,
    questions: Annotated[
        bool, typer.Option(help="Let the report name the questions judged wrongly.")
    ] = True,
    reports: Reports = None,
    as_json: Json = False,
) -> None:
    """What the guard refuses, cross-validated or with an artefact made elsewhere."""
    from cli.evaluate import run_abstention

    with report_failures():
        run_abstention(
            folder, calibration, negatives_from or [], export=export, questions=questions,
            reports=reports, as_json=as_json,
        )  # fmt: skip


@app.command()
def citations(
    folder: Set, *, split: Half = "all", reports: Reports = None, as_json: Json = False
) -> None:
    """How well the citation check tells true sentences from altered ones."""
    from cli.evaluate import run_citations

    with report_failures():
        run_citations(folder, split, reports, as_json=as_json)


@app.command()
def answers(
    folder: Set, *, with_model: WithModel = False, reports: Reports = None, as_json: Json = False
) -> None:
    """How right, how faithful and how well grounded the answers are."""
    from cli.evaluate import run_answers

    with report_failures():
        run_answers(folder, reports, with_model=with_model, as_json=as_json)


@app.command()
def compression(folder: Set, *, split: Half = "all", as_json: Json = False) -> None:
    """Whether the sentence that answers survives compression to 50% and 30%."""
    from cli.evaluate import run_compression

    with report_failures():
        run_compression(folder, split, as_json=as_json)


@app.command()
def packing(
    folder: Set,
    *,
    tokens: Annotated[int, typer.Option(min=1, help="Tokens of one search's passages.")] = 400,
    split: Half = "all",
    as_json: Json = False,
) -> None:
    """What packing the evidence costs an answer, and how many tokens it saves."""
    from cli.evaluate import run_packing

    with report_failures():
        run_packing(folder, tokens, split, as_json=as_json)


@app.command()
def attacks(
    folder: Set, *, with_model: WithModel = False, reports: Reports = None, as_json: Json = False
) -> None:
    """What instructions planted in documents achieve."""
    from cli.evaluate import run_attacks

    with report_failures():
        run_attacks(folder, reports, with_model=with_model, as_json=as_json)


def negatives(
    *,
    count: Annotated[int, typer.Option(min=1, max=1000, help="Questions to make.")] = 60,
    output: Annotated[
        Path | None, typer.Option(help="Write them here; `synthetic.jsonl` in a set is read.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make unanswerable questions where you have none: ask for sections and hold them out."""
    from cli.calibrate import run_negatives

    with report_failures():
        run_negatives(count, output, as_json=as_json)
