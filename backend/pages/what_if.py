"""What another threshold or another calibration would have decided over the recorded questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from backend.desk.ports import KeptCalibration
from backend.desk.what_if import (
    PastAsk,
    curve,
    rates,
    read_past,
    rejudge,
    threshold_of,
    with_threshold,
)
from backend.pages.context import Pages, PagesHere
from backend.pages.curves import draw_rates
from backend.pages.problem import respond_problem
from backend.problems import Problem
from backend.verdict.guard import CalibratedRule, FixedRule, Rule
from backend.verdict.rules import RuleInForce
from backend.verdict.thresholds import default_threshold

router = APIRouter(include_in_schema=False)

FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class RuleChoice:
    """One rule to judge the recorded questions by.

    Attributes:
        name: ``fixed``, or the id of a kept calibration.
        kept: The calibration; None for the fixed rule.
    """

    name: str
    rule: Rule
    kept: KeptCalibration | None = None


@router.get("/what-if")
async def show_what_if(
    request: Request,
    pages: PagesHere,
    threshold: Annotated[float | None, Query(ge=0.0, le=1.0)] = None,
    rule: Annotated[str, Query(max_length=100)] = "",
) -> HTMLResponse:
    """Show which recorded verdicts another rule would turn, and the mistakes it makes.

    Without ``rule`` it is the one in force; without ``threshold`` it is the rule's own.
    """
    past = await _past(request, pages)
    in_force = await pages.desk.rule()
    choices = _choices(in_force, await pages.desk.calibrations(), past)
    wanted = rule or in_force.calibration or FIXED
    choice = next((one for one in choices if one.name == wanted), None)
    if choice is None:
        missing = Problem(title="No such calibration", status=404, code="not_found")
        return respond_problem(pages.templates, request, missing)
    own = threshold_of(choice.rule)
    chosen = own if threshold is None else threshold
    rejudged = rejudge(past, with_threshold(choice.rule, chosen))
    labelled = [one for one in rejudged if one.ask.answerable is not None]
    return pages.templates.respond(
        "what_if.html",
        choices=choices,
        choice=choice,
        in_force=in_force.calibration or FIXED,
        own=own,
        threshold=chosen,
        count=len(rejudged),
        labelled_count=len(labelled),
        flips=[one for one in rejudged if one.is_flipped],
        rates=rates(labelled, chosen),
        chart=draw_rates(curve(labelled), chosen) if labelled else None,
    )


def _choices(
    in_force: RuleInForce, kept: Sequence[KeptCalibration], past: Sequence[PastAsk]
) -> list[RuleChoice]:
    """Return the rules to choose from: every kept calibration, and the fixed one."""
    floor = _floor_of(in_force.rule)
    calibrated = [RuleChoice(one.id, CalibratedRule(one.artefact, floor), one) for one in kept]
    return [*calibrated, RuleChoice(FIXED, _fixed(in_force.rule, past))]


def _floor_of(rule: Rule) -> float | None:
    """Return the threshold that was set by hand, which holds under every rule."""
    if isinstance(rule, CalibratedRule):
        return rule.floor_cosine
    return None if rule.is_default else rule.threshold_cosine


def _fixed(in_force: Rule, past: Sequence[PastAsk]) -> FixedRule:
    if isinstance(in_force, FixedRule):
        return in_force
    if in_force.floor_cosine is not None:
        return FixedRule(in_force.floor_cosine, is_default=False)
    model = past[0].searches[0][1].index.embedding_model if past else ""
    return FixedRule(default_threshold(model).cosine, is_default=True)


async def _past(request: Request, pages: Pages) -> list[PastAsk]:
    labels = {one.record.id: one.label.label for one in await pages.desk.labelled(request)}
    records = await pages.desk.recorded("", request)
    found = (read_past(record, labels.get(record.id, "")) for record in records)
    return [one for one in found if one is not None]
