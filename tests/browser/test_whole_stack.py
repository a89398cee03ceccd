"""The page over the real thing: ingested documents, real search, real agents."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.answers import QUESTION
from tests.browser.conftest import Inspector, OpenPage
from tests.browser.stack import run_stack
from tests.small_model import CONTEXT_TOKENS

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

EGG = "How long should I boil an egg for a runny yolk?"


@pytest.fixture(scope="module")
def stack_url(index: Path) -> Iterator[str]:
    with run_stack(index, {}) as url:
        yield url


def test_answer_cites_words_that_stand_in_the_passage(
    open_page: OpenPage, stack_url: str, inspector: Inspector
) -> None:
    visit = open_page(stack_url)
    visit.ask(QUESTION)
    page = visit.page
    inspector.keep(page, "whole-answer")
    expect(page.locator(".seal")).to_have_text("Answered from the evidence")
    page.locator("a.cite").first.click()
    marked = page.locator(".passage.current mark.on").inner_text()
    assert "context" in marked
    assert marked in page.inner_text(".passage.current .text")
    assert inspector.violations(page) == []


def test_question_outside_the_documentation_is_refused(
    open_page: OpenPage, stack_url: str, inspector: Inspector
) -> None:
    visit = open_page(stack_url)
    visit.ask(EGG)
    page = visit.page
    inspector.keep(page, "whole-refusal")
    expect(page.locator(".seal")).to_have_text("Not answered")
    assert page.locator("a.cite").count() == 0
    assert page.locator(".passage").count() > 0
    assert inspector.violations(page) == []


def test_permalink_shows_the_record_again(open_page: OpenPage, stack_url: str) -> None:
    visit = open_page(stack_url)
    visit.ask(QUESTION)
    answer = visit.page.inner_text("#result")
    again = open_page(visit.page.url)
    assert again.page.inner_text("#result") == answer
    address = again.page.locator("a", has_text="As JSON").get_attribute("href")
    record = again.page.request.get(f"{stack_url}{address}")
    assert json.loads(record.text())["question"] == QUESTION


def test_record_and_its_document_can_be_followed(
    open_page: OpenPage, stack_url: str, inspector: Inspector
) -> None:
    visit = open_page(stack_url)
    visit.ask(QUESTION)
    page = visit.page
    page.get_by_role("button", name="No", exact=True).click()
    expect(page.locator("#feedback")).to_contain_text("Thank you")
    page.get_by_role("link", name="Follow this question").click()
    expect(page.locator("#guard > table tbody tr")).to_have_count(4)
    page.locator("#guard details summary").click()
    assert page.locator("#guard details tbody tr").count() > 4
    assert "search_kb" in page.inner_text("#audit")
    assert inspector.violations(page) == []
    inspector.keep(page, "whole-record")
    page.locator("#guard tbody a").first.click()
    expect(page.locator("#passage")).to_contain_text("context")
    inspector.keep(page, "whole-source")
    page.goto(f"{stack_url}/history?thumb=down")
    expect(page.locator("tbody tr")).to_have_count(1)


@pytest.mark.model
def test_real_small_model_answers_through_the_page(
    open_page: OpenPage, index: Path, small_model_url: str, inspector: Inspector, tmp_path: Path
) -> None:
    data_dir = tmp_path / "data"
    shutil.copytree(index, data_dir)
    settings = {
        "OPENAI_BASE_URL": small_model_url,
        "VOUCH_MODEL": "smollm2",
        "VOUCH_MODEL_CONTEXT_TOKENS": str(CONTEXT_TOKENS),
        "VOUCH_MODEL_ANSWER_TOKENS": "120",
        "VOUCH_AGENT_SECONDS": "240",
        "VOUCH_REQUEST_TIMEOUT_SECONDS": "300",
    }
    with run_stack(data_dir, settings) as url:
        visit = open_page(url)
        visit.page.set_default_timeout(300_000)
        visit.ask("Which port does the page use by default?")
        inspector.keep(visit.page, "whole-model")
        expect(visit.page.locator(".badge").first).to_have_text("Model smollm2")
        expect(visit.page.locator(".answer")).to_contain_text("8000")
        assert "8000" in visit.page.inner_text("#c-1 mark")


def test_reviewer_follows_up_labels_and_finds_the_gap_by_keyboard(
    open_page: OpenPage, stack_url: str, inspector: Inspector
) -> None:
    visit = open_page(stack_url)
    visit.ask("When is the else clause of a try statement executed?")
    page = visit.page
    page.get_by_label("Ask a follow-up").focus()
    page.keyboard.type("and the finally clause?")
    page.keyboard.press("Enter")
    expect(page.locator(".searched summary")).to_contain_text(
        "When is the finally clause of a try statement executed?"
    )
    expect(page.locator(".seal")).to_have_text("Answered from the evidence")
    inspector.keep(page, "whole-follow-up")
    visit.ask(EGG)
    page.get_by_role("link", name="Follow this question").press("Enter")
    page.wait_for_url("**/history/**")
    page.get_by_label("Right as it is").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Keep the label").press("Enter")
    expect(page.locator("#label .tag")).to_have_text("Right as it is")
    page.get_by_role("link", name="History").first.press("Enter")
    page.get_by_role("link", name="Gaps").press("Enter")
    expect(page.locator(".gaps .step")).to_contain_text([EGG])
    inspector.keep(page, "whole-gaps")
    page.get_by_role("link", name="What if").press("Enter")
    expect(page.locator(".what-if .rates")).to_be_visible()
    inspector.keep(page, "whole-what-if")
    assert inspector.violations(page) == []
