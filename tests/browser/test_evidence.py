from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.answers import QUESTION, make_answer, make_calibrated_answer
from tests.browser.conftest import OpenPage, Stage

pytestmark = pytest.mark.browser


def is_in_view(page: Page, selector: str) -> bool:
    return bool(
        page.locator(selector).evaluate(
            "e => { const r = e.getBoundingClientRect();"
            " return r.top >= 0 && r.bottom <= innerHeight }"
        )
    )


def test_citation_opens_its_passage_beside_the_answer_with_the_words_marked(
    open_page: OpenPage, stage: Stage
) -> None:
    visit = open_page(stage.url, height=620)
    visit.ask(QUESTION)
    page = visit.page
    assert not is_in_view(page, "#c-2 mark")
    page.locator("a.cite", has_text="[2]").click()
    expect(page.locator("#c-2")).to_be_focused()
    page.wait_for_function(
        "() => { const r = document.querySelector('#c-2 mark').getBoundingClientRect();"
        " return r.top >= 0 && r.bottom <= innerHeight }"
    )
    assert page.inner_text("#c-2 mark") == "The context manager's __enter__() method is invoked."
    assert is_in_view(page, "a.cite >> nth=0")


def test_each_marker_opens_the_words_that_carry_its_own_sentence(
    open_page: OpenPage, stage: Stage
) -> None:
    visit = open_page(stage.url)
    visit.ask(QUESTION)
    page = visit.page
    page.locator("a.cite").nth(0).click()
    expect(page.locator("#c-1 mark.on")).to_have_text(make_answer().citations[0].quote)
    page.locator("a.cite").nth(1).click()
    expect(page.locator("#c-1 mark.on")).to_contain_text("The context manager handles")
    expect(page.locator("#c-1 mark.on")).to_have_count(1)


def test_same_passage_has_one_number_in_text_and_list(open_page: OpenPage, stage: Stage) -> None:
    visit = open_page(stage.url)
    visit.ask(QUESTION)
    page = visit.page
    assert page.locator("a.cite").all_inner_texts() == ["[1]", "[1]", "[2]"]
    assert page.locator(".sources .place").all_inner_texts() == ["1", "2"]
    assert page.locator(".passage .number").all_inner_texts() == ["1", "2"]


def test_unsupported_sentence_is_marked_and_counted(open_page: OpenPage, stage: Stage) -> None:
    visit = open_page(stage.url)
    visit.ask(QUESTION)
    page = visit.page
    assert page.locator(".unsupported").all_inner_texts() == [
        "Most people write them as generators."
    ]
    assert "One sentence is underlined" in page.inner_text(".remarks")
    assert "removed: 7" in page.inner_text(".remarks")


def test_inspector_shows_every_number_by_its_kind(open_page: OpenPage, stage: Stage) -> None:
    visit = open_page(stage.url)
    visit.ask(QUESTION)
    page = visit.page
    page.locator("#c-1 footer summary").click()
    numbers = page.inner_text("#c-1 .numbers")
    for kind in ("cosine", "Final place", "BM25", "Sum of z-scores", "RRF"):
        assert kind in numbers
    assert not re.search(r"\d\s*%", page.inner_text("#result"))
    assert "score" not in page.inner_text("#result").replace("z-scores", "").lower()


def test_passages_are_told_apart_by_what_became_of_them(open_page: OpenPage, stage: Stage) -> None:
    visit = open_page(stage.url)
    visit.ask(QUESTION)
    page = visit.page
    assert page.locator("#c-1 .tag").first.inner_text() == "cited"
    page.locator("#p-3 > summary").click()
    assert page.locator("#p-3 .tag").inner_text() == "read by the agent"
    page.locator("#p-4 > summary").click()
    assert page.locator("#p-4 .tag").inner_text() == "not used"
    assert "0.962" in page.inner_text(".filtered")


def test_uncalibrated_threshold_is_said_to_be_one(open_page: OpenPage, stage: Stage) -> None:
    visit = open_page(stage.url)
    visit.ask(QUESTION)
    assert "has not been calibrated" in visit.page.inner_text(".more")
    visit.ask("calibrated")
    assert "has not been calibrated" not in visit.page.inner_text(".more")
    assert "the documentation has changed since the calibration" in visit.page.inner_text(".note")


def test_term_explains_itself_by_keyboard(open_page: OpenPage, stage: Stage) -> None:
    visit = open_page(stage.url)
    visit.ask(QUESTION)
    page = visit.page
    page.locator(".more > .panel .numbers .term").first.focus()
    page.keyboard.press("Enter")
    explained = page.locator("#g-cosine")
    expect(explained).to_be_visible()
    assert "a ranking signal, not a probability" in explained.inner_text()
    page.keyboard.press("Escape")
    expect(explained).to_be_hidden()


def test_command_to_copy_asks_the_same_question(open_page: OpenPage, stage: Stage) -> None:
    visit = open_page(stage.url)
    visit.ask(QUESTION)
    page = visit.page
    page.locator("[data-copy=copy-curl]").click()
    expect(page.locator("[data-copy=copy-curl]")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"curl -s {stage.url}/ask")
    assert QUESTION in copied


def test_chosen_theme_outlives_the_page(open_page: OpenPage, stage: Stage) -> None:
    page = open_page(stage.url).page
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("[data-theme-switch]")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.goto(f"{stage.url}/glossary")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_the_agent_was_not_given_are_grey_and_said_to_be_cut_without_script(
    open_page: OpenPage, stage: Stage, scheme: str
) -> None:
    url = f"{stage.url}/a/{make_calibrated_answer().id}"
    page = open_page(url, scheme=scheme, has_script=False).page
    assert page.locator("#c-1 del.cut").count()
    given = page.locator("#c-1 .text")
    cut = page.locator("#c-1 del.cut").first
    assert cut.inner_text() in given.inner_text()
    assert cut.evaluate("e => getComputedStyle(e).color") != given.evaluate(
        "e => getComputedStyle(e).color"
    )
    assert "cut away and not put before the agent" in page.inner_text("#c-1 .cut-note")
    page.locator("#p-3 > summary").click()
    assert "Nothing of this passage" in page.inner_text("#p-3 .cut-note")
    assert page.locator("#p-3 .tag").inner_text() == "not used"
    assert "from 240 to 150 tokens" in page.locator(".more").inner_html()
