"""The reviewer's desk: what was asked, filtered by what became of it, and each record in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ConfigDict, Field, field_validator

from backend.contract import AbstentionReason, AskResponse, FidelityVerdict, Status
from backend.desk.labelled_set import LABELS
from backend.pages.candidates import candidate_table
from backend.pages.context import Pages, PagesHere
from backend.pages.problem import respond_problem
from backend.pages.views import view_for
from backend.problems import Problem
from knowledge.errors import KnowledgeError
from storage.ask_search import AskFilter

router = APIRouter(include_in_schema=False)

_PAGE_SIZE = 30
LOW_SUPPORT = 0.5


class HistoryQuery(BaseModel):
    """The filters as they stand in the address; an unknown one is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    outcome: str = Field(default="", max_length=20)
    reason: str = Field(default="", max_length=40)
    fidelity: str = Field(default="", max_length=20)
    source: str = Field(default="", max_length=200)
    model: str = Field(default="", max_length=200)
    thumb: str = Field(default="", max_length=4)
    support: str = Field(default="", max_length=4)
    since: date | None = None
    until: date | None = None
    before: datetime | None = None

    @field_validator("since", "until", mode="before")
    @classmethod
    def _read_day(cls, value: object) -> date | None:
        """Take a day, and nothing for what is none: an empty field of the form is sent, too."""
        try:
            return date.fromisoformat(str(value))
        except ValueError:
            return None

    def to_filter(self) -> AskFilter:
        """Return what the records are searched by."""
        return AskFilter(
            status=self.outcome,
            reason=self.reason,
            fidelity=self.fidelity,
            source=self.source,
            model=self.model,
            support_below=LOW_SUPPORT if self.support == "low" else None,
            thumb=self.thumb,
            since=_start_of(self.since),
            before=self.before or _start_of(self.until and self.until + timedelta(days=1)),
        )

    def earlier_than(self, moment: datetime) -> str:
        """Return the address of the next page."""
        fields = self.model_dump(mode="json", exclude={"before"}, exclude_defaults=True)
        return "/history?" + urlencode({**fields, "before": moment.isoformat()})


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One line of the list."""

    ask_id: str
    created_at: datetime
    question: str
    status: str
    reason: str
    best_cosine: float | None
    lowest_support: float | None
    fidelity: str
    model: str
    thumb: str


def read_query(query: Annotated[HistoryQuery, Query()]) -> HistoryQuery:
    """Return the filters of the address."""
    if query.before is not None and query.before.tzinfo is None:
        return query.model_copy(update={"before": None})
    return query


@router.get("/history")
async def show_history(
    request: Request, pages: PagesHere, query: Annotated[HistoryQuery, Depends(read_query)]
) -> HTMLResponse:
    """List what was asked, newest first."""
    records = await pages.services.history(query.to_filter(), limit=_PAGE_SIZE + 1, request=request)
    shown = records[:_PAGE_SIZE]
    thumbs = await pages.services.thumbs([record.id for record in shown])
    rows = [
        HistoryRow(
            ask_id=record.id,
            created_at=record.created_at,
            question=record.question,
            status=record.status,
            reason=record.reason,
            best_cosine=record.best_cosine,
            lowest_support=record.lowest_support,
            fidelity=record.fidelity,
            model=record.model,
            thumb=thumbs.get(record.id, ""),
        )
        for record in shown
    ]
    has_more = len(records) > _PAGE_SIZE
    return pages.templates.respond(
        "history.html",
        query=query,
        rows=rows,
        models=[(name, name) for name in await pages.services.models()],
        outcomes=_named(pages, "history", get_args(Status)),
        reasons=_named(pages, "history.reasons", get_args(AbstentionReason)),
        fidelities=_named(pages, "fidelity", get_args(FidelityVerdict)),
        sources=await _sources(request, pages),
        next_page=query.earlier_than(rows[-1].created_at) if has_more else "",
    )


@router.get("/history/{ask_id}")
async def show_trace(request: Request, pages: PagesHere, ask_id: str) -> HTMLResponse:
    """Show one record in full: what the agent wrote beside what was shown, and all between."""
    record = await pages.services.record(ask_id, request)
    if record is None:
        missing = Problem(title="No such record", status=404, code="not_found")
        return respond_problem(pages.templates, request, missing)
    response = AskResponse.model_validate(record.response)
    return pages.templates.respond(
        "record.html",
        record=record,
        candidates=[candidate_table(part) for part in record.searches],
        labels=LABELS,
        label=await pages.desk.label_of(ask_id),
        view=await view_for(pages, request, response),
    )


def _start_of(day: date | None) -> datetime | None:
    return datetime.combine(day, time.min, UTC) if day else None


def _named(pages: Pages, section: str, values: Sequence[str]) -> list[tuple[str, str]]:
    return [(value, pages.templates.texts(f"{section}.{value}")) for value in values]


async def _sources(request: Request, pages: Pages) -> list[tuple[str, str]]:
    """Return the sources to choose from; none when the index cannot be asked."""
    try:
        holdings = await pages.services.holdings(request)
    except KnowledgeError:
        return []
    return [(name, name) for name in sorted(holdings.sources)]
