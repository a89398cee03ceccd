"""What holds for every page: accessible, inert, light, at home on every screen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Response, expect

from tests.browser.answers import (
    ATTACK,
    HOSTILE_PASSAGE,
    IDS,
    QUESTION,
    make_answer,
    make_calibrated_answer,
    make_clarification,
    make_hostile_answer,
    make_refusal,
)
from tests.browser.conftest import Inspector, OpenPage, Stage, Visit

pytestmark = pytest.mark.browser

WEIGHT_LIMIT_BYTES = 150_000


def show_nothing(visit: Visit) -> None:
    expect(visit.page.locator("body")).to_be_visible()


def show_answer(visit: Visit) -> None:
    visit.ask(QUESTION)
    show_all(visit)


def show_all(visit: Visit) -> None:
    for details in visit.page.locator("details").all():
        details.evaluate("e => { e.open = true }")


def show_missing(visit: Visit) -> None:
    expect(visit.page.locator(".problem")).to_be_visible()
    assert len(visit.complaints) == 1, "the browser itself complains of a 404"
    visit.complaints.clear()


def show_refusal(visit: Visit) -> None:
    visit.ask("boil an egg")


def show_problem(visit: Visit) -> None:
    visit.page.fill("#question", "burst")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector(".problem")


def show_term(visit: Visit) -> None:
    visit.ask(QUESTION)
    visit.page.locator(".more > .panel .numbers .term").first.click()


PAGES: dict[str, tuple[str, Callable[[Visit], None]]] = {
    "home": ("/", show_nothing),
    "answer": ("/", show_answer),
    "refusal": ("/", show_refusal),
    "problem": ("/", show_problem),
    "term": ("/", show_term),
    "record": (f"/a/{make_calibrated_answer().id}", show_nothing),
    "asked-back": (f"/a/{make_clarification().id}", show_nothing),
    "glossary": ("/glossary", show_nothing),
    "history": ("/history", show_nothing),
    "follow": (f"/history/{make_answer().id}", show_all),
    "follow-refusal": (f"/history/{make_refusal().id}", show_all),
    "packed": (f"/a/{make_calibrated_answer().id}", show_all),
    "gaps": ("/gaps", show_nothing),
    "what-if": ("/what-if?threshold=0.1", show_nothing),
    "quality": ("/quality", show_all),
    "widget": ("/widget", show_answer),
    "widget-refusal": ("/widget", show_refusal),
    "source": (f"/sources/{IDS[1]}#passage", show_nothing),
    "missing": ("/a/nope", show_missing),
}
SCREENS = {
    "wide": (1440, 900, "light"),
    "phone": (360, 740, "light"),
    "dark": (1440, 900, "dark"),
    "phone-dark": (320, 640, "dark"),
}


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", PAGES)
def test_page_has_no_accessibility_violation(
    open_page: OpenPage,
    stage: Stage,
    inspector: Inspector,
    name: str,
    screen: str,
) -> None:
    path, show = PAGES[name]
    width, height, scheme = SCREENS[screen]
    visit = open_page(stage.url + path, width=width, height=height, scheme=scheme)
    show(visit)
    inspector.keep(visit.page, f"{name}-{screen}")
    assert inspector.violations(visit.page) == []


@pytest.mark.parametrize("width", [320, 390, 768, 1024, 2560, 3840])
@pytest.mark.parametrize(
    "name",
    [
        "home",
        "answer",
        "refusal",
        "asked-back",
        "glossary",
        "history",
        "follow",
        "gaps",
        "what-if",
        "quality",
        "widget",
        "source",
    ],
)
def test_page_never_scrolls_sideways(
    open_page: OpenPage, stage: Stage, name: str, width: int
) -> None:
    path, show = PAGES[name]
    visit = open_page(stage.url + path, width=width)
    show(visit)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width


def test_progress_has_no_accessibility_violation(
    open_page: OpenPage,
    stage: Stage,
    inspector: Inspector,
) -> None:
    stage.hold()
    page = open_page(stage.url).page
    page.fill("#question", QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_selector(".progress .found")
    inspector.keep(page, "progress-wide")
    assert inspector.violations(page) == []


def test_text_of_others_runs_nothing_and_fetches_nothing(
    open_page: OpenPage, stage: Stage, inspector: Inspector
) -> None:
    hostile = make_hostile_answer()
    streamed = open_page(stage.url)
    streamed.page.fill("#question", "attack")
    streamed.page.keyboard.press("Enter")
    streamed.page.wait_for_selector("#result [data-done]")
    framed = open_page(f"{stage.url}/widget")
    framed.ask("attack")
    recorded = open_page(f"{stage.url}/a/{hostile.id}")
    others = [
        open_page(stage.url + path)
        for path in (
            f"/a/{make_clarification().id}",
            f"/history/{hostile.id}",
            "/history",
            "/gaps",
            "/what-if?threshold=0.999",
            "/what-if?rule=fixed&threshold=0.999",
            "/quality",
            "/widget?question=x&source=%3Csvg%20onload%3Dx%3E",
            f"/sources/{HOSTILE_PASSAGE}",
        )
    ]
    assert ATTACK in recorded.page.inner_text(".turns")
    for visit in (streamed, framed, recorded, *others):
        visit.page.wait_for_load_state("networkidle")
        assert "owned" not in visit.page.evaluate("window.document.title.split('·').pop()")
        assert all(url.startswith(stage.url) for url in visit.requests)
        inside = visit.page.locator("main")
        assert inside.locator("img, script, iframe, object, embed").count() == 0
        handlers = "[onerror], [onload], [onclick], [style]"
        assert inside.locator(handlers).count() == 0
        hrefs = inside.locator("a").evaluate_all(
            "all => all.map(a => new URL(a.href.baseVal ?? a.href, location).protocol)"
        )
        assert set(hrefs) <= {"http:", "https:", "mailto:"}
    inspector.keep(streamed.page, "hostile-wide")


def test_report_of_an_evaluation_runs_nothing(open_page: OpenPage, stage: Stage) -> None:
    visit = open_page(f"{stage.url}/quality/reports/abstention-set")
    visit.page.wait_for_load_state("networkidle")
    assert visit.page.title() == "A report"
    assert visit.page.locator("h1").inner_text() == "Kept"
    assert all(url.startswith(stage.url) for url in visit.requests)
    # The browser itself says that it ran nothing.
    assert visit.complaints
    assert all("sandbox" in said or "Content Security Policy" in said for said in visit.complaints)
    visit.complaints.clear()


def test_page_weighs_little(open_page: OpenPage, stage: Stage) -> None:
    visit = open_page("about:blank")
    sizes: list[int] = []

    def weigh(response: Response) -> None:
        sizes.append(len(response.body()))

    visit.page.on("requestfinished", lambda request: weigh_response(request.response(), weigh))
    visit.page.goto(stage.url)
    visit.page.wait_for_load_state("networkidle")
    visit.ask(QUESTION)
    assert 0 < sum(sizes) < WEIGHT_LIMIT_BYTES


def weigh_response(response: Response | None, weigh: Callable[[Response], None]) -> None:
    if response is not None:
        weigh(response)


def test_ask_and_inspect_by_keyboard_alone(open_page: OpenPage, stage: Stage) -> None:
    page = open_page(stage.url).page
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator("h2.question")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("a.cite").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#c-1")).to_be_focused()
    seen = [walk(page) for _ in range(40)]
    assert any("summary" in step for step in seen)
    assert any("Open the original" in step for step in seen)
    assert any("copy-curl" in step for step in seen)
    page.keyboard.press("/")
    expect(page.locator("#question")).to_be_focused()


def walk(page: Page) -> str:
    """Go on by one Tab; returns the element, whose focus must be visible."""
    page.keyboard.press("Tab")
    return str(
        page.evaluate(
            "() => { const e = document.activeElement; const s = getComputedStyle(e);"
            " if (e !== document.body && e.id !== 'question' && s.outlineStyle === 'none')"
            " throw new Error('no visible focus on ' + e.outerHTML);"
            " return e.tagName.toLowerCase() + ' ' + (e.dataset.copy || '') + e.textContent }"
        )
    )


def test_paper_shows_answer_and_evidence_without_the_form(
    open_page: OpenPage, stage: Stage, inspector: Inspector
) -> None:
    visit = open_page(stage.url)
    visit.ask(QUESTION)
    page = visit.page
    page.emulate_media(media="print")
    assert page.locator(".answer").is_visible()
    assert page.locator("#c-1").is_visible()
    assert page.locator("#ask").is_hidden()
    inspector.keep(page, "answer-print")
