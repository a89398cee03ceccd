"""The written report: a short page of results, and the long tables with plots behind it.

The short page is part of the documentation that Vouch indexes of itself; the long one stands where
reports of evaluations stand, which is not indexed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.machine import Machine
from benchmarks.plots import curves
from benchmarks.tables import ask_rows, growth_rows, ingestion_rows, search_rows, start_rows, table
from benchmarks.targets import Parts, Target
from evals.report import Part, Report, write_report

PAGE = Path("docs") / "benchmarks.md"
DETAILS = Path("docs") / "evaluation"

_INTRODUCTION = (
    "`make bench` measures this page anew; `python -m benchmarks PART... --quick --json` prints "
    "the figures of single parts. The tables behind it, with spreads and plots, are in "
    "[the report](evaluation/benchmarks.md); how it is measured, in "
    "[the decision](decisions/0023-measured-beside-the-alternatives.md)."
)


def write_benchmarks(
    parts: Parts, targets: Sequence[Target], machine: Machine, *, is_quick: bool, root: Path
) -> Path:
    """Write both pages and the figures; returns the short page.

    Args:
        parts: What was measured.
        targets: Judged by this run.
        machine: What it ran on.
        is_quick: Whether it was the quick form.
        root: Of the repository.
    """
    page = root / PAGE
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(_page(targets, machine, is_quick=is_quick), encoding="utf-8")
    write_report(_details(parts, machine, is_quick=is_quick), root / DETAILS)
    return page


def _page(targets: Sequence[Target], machine: Machine, *, is_quick: bool) -> str:
    rows = [
        (
            each.name,
            _limit(each),
            f"{each.seen:g}",
            "met" if each.is_met else "**missed**",
        )
        for each in targets
    ]
    return (
        "\n\n".join(
            (
                "# Speed and size",
                _INTRODUCTION,
                _form(machine, is_quick=is_quick),
                table(("figure", "target", "seen", ""), rows),
            )
        )
        + "\n"
    )


def _details(parts: Parts, machine: Machine, *, is_quick: bool) -> Report:
    sections = [Part("What was measured on", _form(machine, is_quick=is_quick))]
    figures: dict[str, str] = {}
    for section, drawn in _sections(parts):
        sections.append(section)
        figures |= drawn
    return Report("benchmarks", "Speed and size in full", sections, figures)


def _sections(parts: Parts) -> Iterator[tuple[Part, Mapping[str, str]]]:
    if parts.search:
        absent = "".join(f"\n- {name}: {why}" for name, why in parts.search.absent.items())
        body = table(*search_rows(parts.search)) + (f"\n\nNot measured:{absent}" if absent else "")
        name = "search"
        drawn = curves(
            _search_curves(parts), title="Search, one caller", x="chunks", y="milliseconds, p50"
        )
        yield Part("Search", body, {name: "Median by size of the index"}), {name: drawn}
    if parts.ask:
        yield Part("Asking", table(*ask_rows(parts.ask))), {}
    if parts.ingestion:
        absent = "".join(f"\n- {name}: {why}" for name, why in parts.ingestion.absent.items())
        body = table(*ingestion_rows(parts.ingestion))
        yield Part("Ingestion", body + (f"\n\nNot measured:{absent}" if absent else "")), {}
    if parts.growth:
        fitted = ", ".join(f"{k} {v:g}" for k, v in parts.growth.exponents().items())
        further = ", ".join(f"{k} {v:g} ms" for k, v in parts.growth.projections().items())
        body = table(*growth_rows(parts.growth))
        body += f"\n\nSearch time grows with size to the power of: {fitted or 'one size only'}."
        if further:
            body += f" Carried on to ten million chunks on one machine like this: {further}."
        drawn = curves(_growth_curves(parts), title="Growth", x="chunks", y="milliseconds, p50")
        yield Part("Growth", body, {"growth": "Median by size"}), {"growth": drawn}
    if parts.start:
        yield Part("Start and idling", table(*start_rows(parts.start))), {}


def _search_curves(parts: Parts) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for cell in parts.search.cells if parts.search else ():
        if cell.callers == 1:
            name = f"{cell.system}, {cell.mode}"
            found.setdefault(name, []).append((cell.chunks, cell.times.p50))
    return found


def _growth_curves(parts: Parts) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for each in parts.growth.figures if parts.growth else ():
        found.setdefault(each.kind, []).append((each.chunks, each.times.p50))
    return found


def _form(machine: Machine, *, is_quick: bool) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    form = "the quick form, on smaller sizes and fewer repetitions" if is_quick else "the full form"
    return (
        f"This is {form}. {machine.processor}, {machine.cores} cores, {machine.memory_gb:g} GB, "
        f"{machine.system}, Python {machine.python}; load {machine.load:g} when it began. "
        f"{versions}."
    )


def _limit(target: Target) -> str:
    return f"{'<=' if target.at_most else '>='} {target.limit:g}"
