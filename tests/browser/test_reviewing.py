from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.answers import IDS, QUESTION, make_answer, make_refusal
from tests.browser.conftest import OpenPage, Stage

pytestmark = pytest.mark.browser


def test_history_filters_by_outcome_and_leads_to_the_whole_record(
    open_page: OpenPage, stage: Stage
) -> None:
    page = open_page(f"{stage.url}/history").page
    assert page.locator("tbody tr").count() == 5
    page.select_option("#outcome", "abstained")
    page.click(".filters button")
    expect(page.locator("tbody tr")).to_have_count(1)
    assert "Weak evidence" in page.inner_text("tbody")
    assert page.input_value("#outcome") == "abstained"
    page.click("tbody a")
    expect(page).to_have_url(f"{stage.url}/history/{make_refusal().id}")


def test_record_puts_what_was_written_beside_what_was_shown(
    open_page: OpenPage, stage: Stage
) -> None:
    page = open_page(f"{stage.url}/history/{make_answer().id}").page
    assert "See also [7]." in page.inner_text("#shown pre")
    assert "[7]" not in page.inner_text("#shown .answer")
    assert page.locator("#guard > table tbody tr").count() == 4
    page.click("#guard summary")
    candidates = page.locator("#guard details tbody tr")
    assert candidates.count() == len(IDS)
    assert "below the cut-off" in candidates.last.inner_text()
    assert "search_kb" in page.inner_text("#agent")
    assert "0.450" in page.inner_text("#verdict")
    assert page.locator("#citations tbody tr").count() == 3
    page.click("#agent summary")
    assert "Answer only from the passages." in page.inner_text("#agent")


STEPS = ("question", "guard", "agent", "verdict", "citations", "shown")


@pytest.mark.parametrize(("width", "way"), [(1440, ".path"), (390, ".steps")])
def test_every_step_of_a_record_is_reached_by_keyboard(
    open_page: OpenPage, stage: Stage, width: int, way: str
) -> None:
    page = open_page(f"{stage.url}/history/{make_answer().id}", width=width).page
    for step in STEPS:
        page.locator(f"{way} a[href='#{step}']").focus()
        page.keyboard.press("Enter")
        expect(page.locator(f"#{step}:target")).to_be_visible()
        expect(page.locator(f"#{step}")).to_be_focused()


def test_record_is_followed_one_step_at_a_time_and_back_to_the_whole(
    open_page: OpenPage, stage: Stage
) -> None:
    page = open_page(f"{stage.url}/history/{make_answer().id}").page
    shown = page.locator(".step:visible")
    expect(shown).to_have_count(8)
    for step in STEPS:
        page.keyboard.press("ArrowRight")
        expect(shown).to_have_count(1)
        expect(page.locator(f"#{step}")).to_be_visible()
        expect(page.locator(f"#{step}")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#citations")).to_be_visible()
    page.keyboard.press("Escape")
    expect(shown).to_have_count(8)
    page.locator(".path a[href='#verdict']").click()
    expect(shown).to_have_count(1)
    page.get_by_role("link", name="Show every step").click()
    expect(shown).to_have_count(8)


def test_arrow_keys_in_a_comment_stay_in_the_comment(open_page: OpenPage, stage: Stage) -> None:
    page = open_page(f"{stage.url}/history/{make_answer().id}").page
    page.get_by_label("In your own words").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".step:visible")).to_have_count(8)


def test_another_calibration_and_another_threshold_turn_verdicts(
    open_page: OpenPage, stage: Stage
) -> None:
    page = open_page(f"{stage.url}/what-if").page
    assert page.locator("#rule option").all_inner_texts()[0].endswith("(in force)")
    page.select_option("#rule", "fixed")
    page.fill("#threshold", "0.9")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**rule=fixed**")
    assert "It was" in page.inner_text(".what-if thead")
    assert page.locator(".what-if tbody tr").count() >= 1
    assert page.locator(".rates polyline").count() == 2


def test_quality_leads_to_its_reports_and_to_the_calibration(
    open_page: OpenPage, stage: Stage
) -> None:
    page = open_page(f"{stage.url}/quality").page
    assert "90" in page.inner_text(".figures")
    assert page.locator(".rates rect.asked").count() == 30
    page.get_by_role("link", name="Try another threshold").click()
    expect(page.locator("#rule")).to_have_value("kept-1")


def test_picture_of_both_paths_carries_what_was_recorded(open_page: OpenPage, stage: Stage) -> None:
    page = open_page(f"{stage.url}/history/{make_refusal().id}").page
    names = page.locator(".path a").evaluate_all("all => all.map(a => a.ariaLabel)")
    assert names[1] == "Guard's search: best cosine 0.187"
    assert names[3] == "Verdict: too weak"
    assert names[5].endswith("Not answered")


def test_passage_is_shown_where_it_stands_in_its_document(
    open_page: OpenPage, stage: Stage
) -> None:
    visit = open_page(stage.url)
    visit.ask(QUESTION)
    page = visit.page
    page.locator("#c-2").get_by_role("link", name="Read in context").click()
    expect(page.locator("#passage")).to_contain_text("The with statement is used to wrap")
    assert page.locator(".document .text").count() == 4
    original = page.get_by_role("link", name="Open the original")
    assert (original.get_attribute("href") or "").startswith("https://docs.python.org/3/")


@pytest.mark.parametrize("has_script", [True, False])
def test_thumb_with_its_reason_is_kept(open_page: OpenPage, stage: Stage, has_script: bool) -> None:
    page = open_page(f"{stage.url}/a/{make_answer().id}", has_script=has_script).page
    page.click("#feedback summary")
    page.get_by_label("Something is missing").check()
    page.get_by_label("In your own words").fill("where is __aenter__?")
    page.get_by_role("button", name="No", exact=True).click()
    if has_script:
        expect(page.locator("#feedback")).to_have_text("Thank you. It is kept with the record.")
    else:
        expect(page.locator(".answer")).to_be_visible()
    assert stage.services.feedback == {
        make_answer().id: ("down", "incomplete", "where is __aenter__?")
    }


def test_thumb_shows_in_the_history(open_page: OpenPage, stage: Stage) -> None:
    stage.services.feedback[make_answer().id] = ("up", "", "")
    page = open_page(f"{stage.url}/history").page
    assert page.locator("tbody tr").first.locator("td").nth(5).inner_text() == "Yes"
