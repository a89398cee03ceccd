"""The widget in pages of other origins, over the whole system."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.answers import QUESTION
from tests.browser.conftest import Inspector, OpenPage
from tests.browser.hosting import Host, host
from tests.browser.stack import run_stack

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

EGG = "How long should I boil an egg for a runny yolk?"


@pytest.fixture(scope="module")
def listed() -> Iterator[Host]:
    with host() as hosted:
        yield hosted


@pytest.fixture(scope="module")
def unlisted() -> Iterator[Host]:
    with host() as hosted:
        yield hosted


@pytest.fixture(scope="module")
def vouch(index: Path, listed: Host) -> Iterator[str]:
    with run_stack(index, {"VOUCH_WIDGET_ORIGINS": listed.origin}) as url:
        yield url


def test_answer_with_citations_in_a_page_of_another_origin(
    open_page: OpenPage, vouch: str, listed: Host, inspector: Inspector
) -> None:
    listed.embed(vouch)
    page = open_page(f"{listed.origin}/", width=720).page
    frame = page.frame_locator("iframe.vouch-widget")
    small = page.locator("iframe").bounding_box()
    frame.get_by_label("Your question").fill(QUESTION)
    frame.get_by_label("Your question").press("Enter")
    expect(frame.locator(".seal")).to_have_text("Answered from the evidence")
    frame.locator("a.cite").first.click()
    expect(frame.locator("details.passage").first).to_have_attribute("open", "")
    expect(frame.locator("details.passage mark").first).to_contain_text("context")
    inside = page.frames[1]
    expect(page.locator("iframe")).not_to_have_css(
        "height", f"{small['height']}px" if small else ""
    )
    assert inside.evaluate("document.documentElement.scrollHeight <= innerHeight + 1")
    assert inside.evaluate("location.origin") == vouch
    inspector.keep(page, "widget-answer")
    frame.get_by_label("Your question").fill(EGG)
    frame.get_by_label("Your question").press("Enter")
    expect(frame.locator(".seal")).to_have_text("Not answered")
    assert frame.locator("a.cite").count() == 0
    inspector.keep(page, "widget-refusal")


def test_links_open_outside_of_the_frame(open_page: OpenPage, vouch: str, listed: Host) -> None:
    listed.embed(vouch)
    page = open_page(f"{listed.origin}/").page
    frame = page.frame_locator("iframe.vouch-widget")
    frame.get_by_label("Your question").fill(QUESTION)
    frame.get_by_label("Your question").press("Enter")
    with page.expect_popup() as opened:
        frame.get_by_role("link", name="All evidence").click()
    expect(opened.value.locator(".result .evidence")).to_be_visible()
    assert opened.value.url.startswith(f"{vouch}/a/")
    assert page.url == f"{listed.origin}/"


def test_look_and_place_are_chosen_by_attributes_of_the_tag(
    open_page: OpenPage, vouch: str, listed: Host
) -> None:
    listed.embed(
        vouch, "data-theme='dark' data-question='What is a with statement?' data-target='h1'"
    )
    page = open_page(f"{listed.origin}/").page
    expect(page.locator("h1 iframe.vouch-widget")).to_be_visible()
    frame = page.frame_locator("iframe.vouch-widget")
    expect(frame.get_by_label("Your question")).to_have_value("What is a with statement?")
    expect(frame.locator("html")).to_have_attribute("data-theme", "dark")


def test_origin_that_is_not_listed_gets_no_frame(
    open_page: OpenPage, vouch: str, unlisted: Host
) -> None:
    unlisted.embed(vouch)
    visit = open_page("about:blank")
    with visit.page.expect_console_message(lambda said: "frame-ancestors" in said.text):
        visit.page.goto(f"{unlisted.origin}/")
    assert visit.page.frame_locator("iframe.vouch-widget").locator("#ask").count() == 0
    assert visit.complaints
    visit.complaints.clear()


def test_other_pages_are_shown_in_no_frame_at_all(
    open_page: OpenPage, vouch: str, listed: Host
) -> None:
    listed.policy = ""
    listed.body = f"<!doctype html><title>x</title><iframe src='{vouch}/'></iframe>"
    visit = open_page("about:blank")
    with visit.page.expect_console_message(lambda said: "frame-ancestors" in said.text):
        visit.page.goto(f"{listed.origin}/")
    assert visit.page.frame_locator("iframe").locator("#ask").count() == 0
    assert visit.complaints
    visit.complaints.clear()


def test_message_of_another_window_moves_nothing(
    open_page: OpenPage, vouch: str, listed: Host
) -> None:
    listed.embed(vouch)
    page = open_page(f"{listed.origin}/").page
    expect(page.frame_locator("iframe.vouch-widget").locator("#ask")).to_be_visible()
    page.evaluate(
        "() => new Promise((done) => {"
        " addEventListener('message', (e) => { if (e.source === window) setTimeout(done) });"
        " postMessage({ vouchHeight: 9999 }, '*') })"
    )
    box = page.locator("iframe").bounding_box()
    assert box is not None
    assert box["height"] < 9999
