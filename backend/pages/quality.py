"""How good the answers are, and how sure one may be of it: figures over time, reports, builds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from backend.desk.quality import by_day, sum_up
from backend.pages.context import PagesHere
from backend.pages.curves import draw_days
from backend.pages.problem import respond_problem
from backend.pages.templates import HEADERS
from backend.problems import Problem
from knowledge.errors import KnowledgeError

router = APIRouter(include_in_schema=False)

_DAYS = 30
# A report is a whole document with a style of its own; nothing in it may run or leave.
_REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox"
)


@router.get("/quality")
async def show_quality(request: Request, pages: PagesHere) -> HTMLResponse:
    """Show refusals and support over time, the calibration in force, reports and builds."""
    now = datetime.now(UTC)
    start = datetime.combine(now.date() - timedelta(days=_DAYS - 1), datetime.min.time(), UTC)
    asks = await pages.desk.figures(start, request)
    kept = await pages.desk.calibrations()
    try:
        rule = await pages.desk.rule()
    except KnowledgeError:
        rule = None  # the page is worth showing when the index cannot be asked, too
    active = next((one for one in kept if one.is_active), None)
    return pages.templates.respond(
        "quality.html",
        days=_DAYS,
        total=sum_up(asks),
        chart=draw_days(by_day(asks, now.date(), _DAYS)) if asks else None,
        calibration=active,
        state=rule.state if rule else None,
        is_used=bool(rule and active and rule.calibration == active.id),
        kept=kept,
        reports=await pages.desk.reports(),
        builds=await pages.desk.builds(),
        now=now,
    )


@router.get("/quality/reports/{name}")
async def show_report(request: Request, pages: PagesHere, name: str) -> Response:
    """Show one report as it was written, unable to run anything."""
    html = await pages.desk.report(name)
    if html is None:
        missing = Problem(title="No such report", status=404, code="not_found")
        return respond_problem(pages.templates, request, missing)
    return HTMLResponse(html, headers={**HEADERS, "content-security-policy": _REPORT_POLICY})
