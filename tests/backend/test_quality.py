"""Quality over time, the shelf of reports, and what is shown of both."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import JsonValue

from backend.desk.quality import by_day, sum_up
from backend.desk.report_shelf import ReportShelf
from backend.pages.curves import draw_days
from storage.ask_figures import AskFigures
from storage.calibrations import CalibrationRecord, CalibrationStore
from storage.database import Database
from storage.index_view import IndexView
from tests.backend.conftest import Connect
from tests.backend.factories import make_artefact, make_result
from tests.backend.fakes import FakeAgent, FakeKnowledge, says

TODAY = date(2026, 11, 30)


def figures(day: date, status: str = "answered", support: float | None = 1.0) -> AskFigures:
    moment = datetime.combine(day, datetime.min.time(), UTC) + timedelta(hours=3)
    return AskFigures(moment, status, support, "exact")


ASKS = [
    figures(TODAY),
    figures(TODAY, support=0.5),
    figures(TODAY, "abstained", None),
    figures(TODAY, "needs_clarification", None),
    figures(TODAY - timedelta(days=2), "abstained", None),
    figures(TODAY - timedelta(days=40)),
]


def test_days_count_answers_and_refusals_and_not_what_was_asked_back() -> None:
    days = by_day(ASKS, TODAY, 3)
    assert [day.day for day in days] == [TODAY - timedelta(days=n) for n in (2, 1, 0)]
    assert [day.figures.asked for day in days] == [1, 0, 3]
    assert [day.figures.abstention for day in days] == [1.0, None, pytest.approx(1 / 3)]
    assert [day.figures.support for day in days] == [None, None, 0.75]


def test_nothing_asked_gives_no_share_instead_of_zero() -> None:
    assert sum_up([]) == sum_up([ASKS[3]])
    assert sum_up([]).abstention is None


def test_days_are_drawn_inside_the_frame_with_the_busiest_as_the_highest() -> None:
    chart = draw_days(by_day(ASKS, TODAY, 30))
    assert chart.most == 3
    assert max(bar.height for bar in chart.bars) == chart.bars[-1].height
    assert all(chart.left <= bar.x <= chart.right for bar in chart.bars)
    assert len(chart.dots) == 3
    assert chart.ticks[0].text == "11-30"


def shelve(folder: Path, file: str, **changes: object) -> None:
    card = {
        "name": file,
        "title": f"Report {file}",
        "created_at": "2026-11-29T10:00:00+00:00",
        "summary": {"auroc": 0.9, "by_band": {"near": 1.0}, "mode": "fixed"},
        **changes,
    }
    folder.mkdir(exist_ok=True)
    (folder / f"{file}.json").write_text(json.dumps(card))
    (folder / f"{file}.html").write_text(f"<h1>{file}</h1>")


def test_shelf_lists_what_can_be_read_newest_first(tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    assert ReportShelf(folder).cards() == ()
    shelve(folder, "one")
    shelve(folder, "two", created_at="2026-11-30T10:00:00+00:00")
    shelve(folder, "three", name="another")
    (folder / "four.json").write_text("{")
    (folder / "five.json").write_text((folder / "one.json").read_text())
    cards = ReportShelf(folder).cards()
    assert [card.name for card in cards] == ["two", "one"]
    assert cards[0].figures == (("auroc", 0.9),)


@pytest.mark.parametrize("name", ["../secret", "secret", "linked", ".hidden", "a/b", ""])
def test_shelf_opens_nothing_but_its_own_reports(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "reports"
    shelve(folder, "one")
    (tmp_path / "secret.html").write_text("secret")
    (folder / "linked.html").symlink_to(tmp_path / "secret.html")
    (folder / ".hidden.html").write_text("secret")
    assert ReportShelf(folder).page(name) is None


async def test_page_shows_figures_calibration_reports_and_builds(
    connect: Connect, tmp_path: Path
) -> None:
    client = await connect(
        FakeKnowledge(results={"q?": make_result("c1", query="q?")}),
        FakeAgent(says("The text of c1 [1].")),
    )
    empty = (await client.get("/quality", headers={"accept": "text/html"})).text
    for said in ("Nothing was asked in this time", "no calibration", "No report yet", "No build"):
        assert said in empty
    await client.post("/ask", json={"question": "q?"})
    shelve(tmp_path / "reports", "abstention-set")
    database = Database(f"sqlite:///{tmp_path}/vouch.db")
    artefact = make_artefact()
    record = CalibrationRecord(id=artefact.digest(), artefact=artefact.model_dump(mode="json"))
    await CalibrationStore(database).save(record)
    await CalibrationStore(database).save(CalibrationRecord(id="old", artefact={"no": "artefact"}))
    await CalibrationStore(database).withdraw("old")
    created = (datetime.now(UTC) - timedelta(days=3)).isoformat()
    build: dict[str, JsonValue] = {
        "build": "b1", "created_at": created, "chunks": 7, "documents": 1, "duplicates": 0,
        "profile": "default", "stamp": {"embedding_model": "m"}, "sources": {"docs": 7},
    }  # fmt: skip
    await IndexView(database).show("vouch", "b1", [build])
    await database.close()
    page = (await client.get("/quality")).text
    assert artefact.name in page
    assert "3 days ago" in page
    assert "Report abstention-set" in page
    report = await client.get("/quality/reports/abstention-set")
    assert report.text == "<h1>abstention-set</h1>"
    assert "sandbox" in report.headers["content-security-policy"]
    assert (await client.get("/quality/reports/nothing")).status_code == 404
