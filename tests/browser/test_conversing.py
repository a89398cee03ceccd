"""Following up on an answer, changing what is searched for, choosing what was meant."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.answers import QUESTION, make_answer, make_clarification, make_hostile_answer
from tests.browser.conftest import OpenPage, Stage

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("has_script", [True, False])
def test_follow_up_belongs_to_the_conversation_of_the_answer(
    open_page: OpenPage, stage: Stage, *, has_script: bool
) -> None:
    page = open_page(f"{stage.url}/a/{make_answer().id}", has_script=has_script).page
    page.get_by_label("Ask a follow-up").fill("and for an egg?")
    page.get_by_label("Ask a follow-up").press("Enter")
    expect(page.locator(".seal")).to_have_text("Not answered")
    assert stage.services.asked[0].question == "and for an egg?"
    assert stage.services.asked[0].conversation_id == make_answer().id


def test_follow_up_keeps_the_chosen_source(open_page: OpenPage, stage: Stage) -> None:
    visit = open_page(stage.url)
    visit.page.select_option("#source", "vouch-docs")
    visit.ask(QUESTION)
    visit.page.get_by_label("Ask a follow-up").fill("and for an egg?")
    visit.page.get_by_label("Ask a follow-up").press("Enter")
    expect(visit.page.locator(".seal")).to_have_text("Not answered")
    assert [body.source for body in stage.services.asked] == ["vouch-docs", "vouch-docs"]


def test_what_was_searched_for_can_be_changed(open_page: OpenPage, stage: Stage) -> None:
    hostile = make_hostile_answer()
    page = open_page(f"{stage.url}/a/{hostile.id}").page
    page.locator("summary", has_text="Searched for").press("Enter")
    box = page.get_by_label("Search for")
    expect(box).to_have_value(hostile.search_question)
    box.fill("the with statement")
    with page.expect_response("**/stream"):
        box.press("Enter")
    expect(page.locator("#result [data-done]")).to_be_visible()
    asked = stage.services.asked[0]
    assert (asked.question, asked.search_question) == (hostile.question, "the with statement")


def test_proposal_is_asked_by_one_click(open_page: OpenPage, stage: Stage) -> None:
    asked_back = make_clarification()
    page = open_page(f"{stage.url}/a/{asked_back.id}").page
    expect(page.locator(".seal")).to_have_text("Which one do you mean?")
    page.locator(".proposals button").first.click()
    expect(page.locator(".answer")).to_contain_text("runtime context")
    assert stage.services.asked[0].question == asked_back.proposals[0]
    assert stage.services.asked[0].conversation_id == asked_back.id


def test_earlier_turns_are_shown_above_and_lead_to_their_records(
    open_page: OpenPage, stage: Stage
) -> None:
    page = open_page(f"{stage.url}/a/{make_hostile_answer().id}").page
    turns = page.locator(".turns li")
    expect(turns).to_have_count(2)
    turns.nth(1).get_by_role("link").click()
    expect(page).to_have_url(f"{stage.url}/a/{make_answer().id}")
    expect(page.locator(".turns")).to_have_count(0)
