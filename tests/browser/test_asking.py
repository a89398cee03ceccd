from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.answers import QUESTION, make_answer, make_refusal
from tests.browser.conftest import OpenPage, Stage

pytestmark = pytest.mark.browser


def test_stages_arrive_one_by_one_and_the_answer_only_after_the_verdict(
    open_page: OpenPage, stage: Stage
) -> None:
    stage.hold()
    page = open_page(stage.url).page
    page.fill("#question", QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".progress .found li").first).to_contain_text("0.812")
    expect(page.locator("#result")).to_have_attribute("aria-busy", "true")
    assert "runtime context" not in page.inner_text("#result")
    stage.release()
    expect(page.locator(".answer")).to_contain_text("runtime context")
    expect(page.locator("#result")).to_have_attribute("aria-busy", "false")


def test_answer_is_announced_takes_the_focus_and_gets_an_address(
    open_page: OpenPage, stage: Stage
) -> None:
    visit = open_page(stage.url)
    visit.ask(QUESTION)
    page = visit.page
    expect(page.locator("h2.question")).to_be_focused()
    expect(page.locator("#status")).to_have_text("The answer is ready.")
    assert page.url == f"{stage.url}/a/{make_answer().id}"
    page.reload()
    expect(page.locator(".answer")).to_contain_text("runtime context")
    page.go_back()
    expect(page.locator(".examples")).to_be_visible()


def test_asking_works_without_any_script(open_page: OpenPage, stage: Stage) -> None:
    page = open_page(stage.url, has_script=False).page
    page.fill("#question", QUESTION)
    page.select_option("#source", "vouch-docs")
    page.select_option("#top_k", "6")
    page.click("button.go")
    expect(page.locator(".answer")).to_contain_text("runtime context")
    assert stage.services.asked[0].source == "vouch-docs"
    assert stage.services.asked[0].top_k == 6
    page.locator("a.cite").last.click()
    assert page.locator("#c-2:target mark").is_visible()
    assert page.locator("[data-copy]").first.is_hidden()


def test_example_question_is_asked_by_one_click(open_page: OpenPage, stage: Stage) -> None:
    page = open_page(stage.url).page
    page.get_by_role("button", name="How long should I boil an egg").click()
    expect(page.locator(".seal")).to_have_text("Not answered")
    assert "egg" in page.input_value("#question")


def test_example_question_is_asked_without_script(open_page: OpenPage, stage: Stage) -> None:
    page = open_page(stage.url, has_script=False).page
    page.get_by_role("button", name="How do I define a context manager").click()
    expect(page.locator(".seal")).to_have_text("Answered from the evidence")


def test_refusal_says_why_with_its_number_and_offers_no_link(
    open_page: OpenPage, stage: Stage
) -> None:
    visit = open_page(stage.url)
    visit.ask("boil an egg")
    page = visit.page
    assert page.inner_text(".answer") == make_refusal().answer
    assert page.locator(".answer a, a.cite, .sources").count() == 0
    why = page.inner_text(".refusal")
    assert "0.187" in why
    assert "0.450" in why
    assert page.locator(".refusal .tag").all_inner_texts() == ["yolk", "egg", "boil"]
    assert page.locator(".passage .tag").first.inner_text() == "not used"


def test_stop_ends_the_ask_on_the_server(open_page: OpenPage, stage: Stage) -> None:
    stage.hold()
    page = open_page(stage.url).page
    page.fill("#question", QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_selector(".progress .found")
    page.click("[data-stop]")
    expect(page.locator("#result")).to_have_text("Stopped. Nothing was kept.")
    stage.serving.wait(stage.services.cancelled.wait())


def test_new_question_replaces_one_under_way(open_page: OpenPage, stage: Stage) -> None:
    stage.hold()
    page = open_page(stage.url).page
    page.fill("#question", QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_selector(".progress .found")
    page.fill("#question", "boil an egg")
    page.keyboard.press("Enter")
    stage.serving.wait(stage.services.cancelled.wait())
    stage.release()
    expect(page.locator("h2.question")).to_contain_text("egg")


def test_shift_enter_starts_a_new_line(open_page: OpenPage, stage: Stage) -> None:
    page = open_page(stage.url).page
    page.keyboard.type("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    assert page.input_value("#question") == "one\ntwo"
    assert stage.services.asked == []


def test_search_out_of_order_is_said_and_asking_again_heals(
    open_page: OpenPage, stage: Stage
) -> None:
    stage.services.is_down = True
    page = open_page(stage.url).page
    expect(page.locator(".note.warn")).to_be_visible()
    page.fill("#question", QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".problem h2")).to_have_text(
        "The documentation cannot be searched right now"
    )
    expect(page.locator(".problem h2")).to_be_focused()
    assert page.input_value("#question") == QUESTION
    stage.services.is_down = False
    page.click(".problem button")
    expect(page.locator(".answer")).to_contain_text("runtime context")


def test_unexpected_failure_shows_nothing_of_its_inside(open_page: OpenPage, stage: Stage) -> None:
    page = open_page(stage.url).page
    page.fill("#question", "burst")
    page.keyboard.press("Enter")
    expect(page.locator(".problem h2")).to_have_text("Something went wrong on our side")
    assert "secret" not in page.content()


def test_lost_connection_is_said_and_the_question_is_kept(
    open_page: OpenPage, stage: Stage
) -> None:
    visit = open_page(stage.url)
    page = visit.page
    page.context.set_offline(True)
    page.fill("#question", QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".problem h2")).to_have_text("The service cannot be reached")
    assert page.input_value("#question") == QUESTION
    page.context.set_offline(False)
    page.click(".problem button")
    expect(page.locator(".answer")).to_contain_text("runtime context")
    assert all("ERR_INTERNET_DISCONNECTED" in text or "fetch" in text for text in visit.complaints)
    visit.complaints.clear()
