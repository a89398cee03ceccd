from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
import yaml
from fastapi import FastAPI
from pydantic import JsonValue

from backend.contract import AskRequest
from backend.pages.chart import WIDTH, draw_verdict
from backend.pages.glossary import Glossary
from backend.pages.history import HistoryQuery
from backend.pages.ports import Holdings, Spread
from backend.pages.questions import QuestionForm, propose_questions
from backend.pages.share import make_curl, make_markdown
from backend.pages.source import overlap, read_context
from backend.pages.templates import FRONTEND, GLOSSARY, Templates, format_duration, in_whole_blocks
from backend.pages.texts import TextError, Texts
from backend.pages.view import view_answer
from knowledge.contracts import Section, Source
from tests.browser.answers import QUESTION, find_passage, make_answer, make_refusal
from tests.browser.stage import StagedServices, create_stage

BASE = "http://127.0.0.1:8000/"
TEXTS = Texts.load(FRONTEND / "texts.yaml")


@pytest.fixture
def services() -> StagedServices:
    return StagedServices()


@pytest.fixture
async def client(services: StagedServices) -> AsyncIterator[httpx.AsyncClient]:
    app: FastAPI = create_stage(services)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
        yield client


async def test_start_page_has_a_form_that_needs_no_script(client: httpx.AsyncClient) -> None:
    page = await client.get("/")
    assert page.status_code == 200
    assert re.search(r'<form[^>]*method="post" action="/"', page.text)
    assert "python-reference" in page.text


async def test_page_forbids_every_script_and_style_but_its_own(client: httpx.AsyncClient) -> None:
    page = await client.get("/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert page.headers["x-content-type-options"] == "nosniff"


async def test_posted_question_shows_the_answer_with_its_address(
    client: httpx.AsyncClient,
) -> None:
    page = await client.post("/", data={"question": QUESTION})
    assert page.status_code == 200
    assert page.headers["content-location"] == f"/a/{make_answer().id}"
    assert 'href="#c-1"' in page.text
    assert 'id="c-1"' in page.text


async def test_record_is_shown_as_it_was_given(client: httpx.AsyncClient) -> None:
    posted = await client.post("/", data={"question": QUESTION})
    shown = await client.get(f"/a/{make_answer().id}")
    assert result_of(shown.text) == result_of(posted.text)


async def test_unknown_record_is_a_page_that_says_so(client: httpx.AsyncClient) -> None:
    page = await client.get("/a/nope")
    assert page.status_code == 404
    assert TEXTS("problems.not_found.title") in page.text


async def test_refusal_has_no_citation_and_no_link_in_its_answer(
    client: httpx.AsyncClient,
) -> None:
    page = await client.post("/", data={"question": "boil an egg"})
    answer = re.search(r'<div class="answer prose" id="answer">(.*?)</div>', page.text, re.DOTALL)
    assert answer is not None
    assert answer.group(1) == f"<p>{make_refusal().answer}</p>"
    assert 'class="cite"' not in page.text


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({}, "ask.refusals.question_too_short"),
        ({"question": "  "}, "ask.refusals.question_value_error"),
        ({"question": "a\x00b"}, "ask.refusals.question_value_error"),
        ({"question": "x", "top_k": "0"}, "ask.refusals.top_k_greater_than_equal"),
        ({"question": "x", "top_k": "999"}, "ask.refusals.top_k_less_than_equal"),
        ({"question": "x", "top_k": "many"}, "ask.refusals.top_k_int_type"),
    ],
)
async def test_question_that_cannot_be_asked_is_refused_in_plain_words(
    client: httpx.AsyncClient, form: dict[str, str], said: str
) -> None:
    page = await client.post("/", data=form)
    assert page.status_code == 422
    assert TEXTS(said) in page.text
    assert TEXTS(said) in (await client.post("/stream", data=form)).text


async def test_too_long_question_is_refused_and_kept_in_the_box(client: httpx.AsyncClient) -> None:
    page = await client.post("/", data={"question": "why " * 600})
    assert page.status_code == 422
    assert TEXTS("ask.refusals.question_too_long", limit=2000) in page.text
    assert "why why why" in page.text


async def test_wrong_address_is_a_page_for_people_and_a_document_for_programs(
    client: httpx.AsyncClient,
) -> None:
    page = await client.get("/nowhere", headers={"accept": "text/html"})
    assert page.status_code == 404
    assert TEXTS("problems.not_found.title") in page.text
    document = await client.get("/nowhere")
    assert document.status_code == 404
    assert document.json()["code"] == "not_found"


async def test_search_out_of_order_is_a_503_with_its_reason(
    client: httpx.AsyncClient, services: StagedServices
) -> None:
    services.is_down = True
    page = await client.post("/", data={"question": QUESTION})
    assert page.status_code == 503
    assert page.headers["retry-after"]
    assert TEXTS("problems.knowledge_unavailable.title") in page.text
    assert QUESTION in page.text
    assert (await client.get("/")).status_code == 200


async def test_overload_says_when_to_come_back(client: httpx.AsyncClient) -> None:
    page = await client.post("/", data={"question": "crowd"})
    assert page.status_code == 503
    assert page.headers["retry-after"] == "5"
    assert "Try again in 5 seconds." in page.text


async def test_stream_holds_nothing_of_the_answer_before_the_verdict(
    client: httpx.AsyncClient,
) -> None:
    stream = (await client.post("/stream", data={"question": QUESTION})).text
    verdict = stream.index(TEXTS("progress.verdict_passed"))
    before = stream[:verdict]
    for sentence in make_answer().sentences:
        assert sentence.text not in before
    assert "define the runtime" not in before
    assert "0.812" in before
    assert 'class="answer' not in before
    assert stream.count('class="answer prose"') == 1


async def test_streamed_and_plain_answer_are_the_same(client: httpx.AsyncClient) -> None:
    stream = (await client.post("/stream", data={"question": QUESTION})).text
    last = stream.strip().split("\n\n")[-1]
    streamed = "\n".join(line.removeprefix("data: ") for line in last.splitlines())
    plain = await client.post("/", data={"question": QUESTION})
    assert "".join(streamed.split()) in "".join(plain.text.split())


async def test_stream_breaks_with_a_problem_and_no_inside(client: httpx.AsyncClient) -> None:
    stream = (await client.post("/stream", data={"question": "burst"})).text
    assert TEXTS("problems.default.title") in stream
    assert "secret" not in stream


async def test_static_files_are_served_and_kept_by_the_browser(client: httpx.AsyncClient) -> None:
    page = (await client.get("/")).text
    address = re.search(r'href="(/static/vouch\.css\?v=[0-9a-f]{12})"', page)
    assert address is not None
    style = await client.get(address.group(1))
    assert style.headers["content-type"].startswith("text/css")
    assert "immutable" in style.headers["cache-control"]


@pytest.mark.parametrize("path", ["../texts.yaml", "..%2ftexts.yaml", "templates/base.html", ""])
async def test_only_static_files_are_served(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(f"/static/{path}")).status_code == 404


async def test_glossary_page_explains_every_term(client: httpx.AsyncClient) -> None:
    page = (await client.get("/glossary")).text
    for term in Glossary.load(GLOSSARY).terms:
        assert f'id="{term.slug}"' in page


def test_glossary_takes_the_first_sentence_of_each_entry() -> None:
    glossary = Glossary.parse("# G\n\n## z-score\n\nFirst\none. Second.\n\n## b\n\nOnly")
    assert [(t.slug, t.sentence) for t in glossary.terms] == [
        ("z-score", "First one."),
        ("b", "Only"),
    ]


def test_page_without_terms_is_no_glossary() -> None:
    with pytest.raises(TextError):
        Glossary.parse("# nothing")


def test_templates_hold_no_inline_script_or_style() -> None:
    for template in (FRONTEND / "templates").glob("*.html"):
        text = template.read_text(encoding="utf-8")
        assert not re.search(r"\sstyle=|<style|\son[a-z]+=|javascript:", text), template.name
        assert not re.search(r"<script(?![^>]*\bsrc=)", text), template.name


def test_templates_hold_no_threshold_typed_by_hand() -> None:
    for template in (FRONTEND / "templates").glob("*.html"):
        text = re.sub(r"<(path|svg|rect|text|circle)\b[^>]*>", "", template.read_text("utf-8"))
        assert not re.search(r"\b0\.\d", text), template.name


def test_every_text_is_used_and_every_used_text_exists() -> None:
    source = "".join(
        path.read_text(encoding="utf-8")
        for path in [
            *(FRONTEND / "templates").glob("*.html"),
            *Path("backend/pages").glob("*.py"),
        ]
    )
    for key in re.findall(r"\bt\('([a-z_.]+)'[,)]", source):
        assert TEXTS.has(key), key
    computed = (
        *re.findall(r"'([a-z_.]+[._])' ~", source),
        "ask.refusals.",
        "degraded.names.",
        "problems.",
    )
    for key in flatten(yaml.safe_load((FRONTEND / "texts.yaml").read_text("utf-8"))):
        assert key in source or key.startswith(computed), key


def flatten(section: dict[str, JsonValue], prefix: str = "") -> Iterator[str]:
    for name, value in section.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def test_missing_text_is_an_error_and_not_an_empty_page() -> None:
    texts = Texts({"a": {"b": "x {y}"}})
    assert texts("a.b", y=1) == "x 1"
    with pytest.raises(TextError):
        texts("a.c")
    with pytest.raises(TextError):
        texts("a.b", z=1)
    with pytest.raises(TextError):
        texts.many("a.b")


def test_questions_to_try_fit_the_corpus() -> None:
    sample = propose_questions(TEXTS, Holdings({"python-reference": 3}))
    assert sample == TEXTS.many("examples.questions")
    sections = [
        Section(
            source="handbook",
            title="T",
            parent_heading="",
            section_heading=f"Part {n}",
            source_url="https://x.example",
            chunks=1,
            first_chunk_id=f"{n}",
        )
        for n in range(8)
    ]
    own = propose_questions(TEXTS, Holdings({"handbook": 8}, sections))
    assert len(own) == 4
    assert "Part 0" in own[0]
    assert "Part 6" in own[3]


def test_form_becomes_the_question_of_the_service() -> None:
    form = QuestionForm(question=" why? ", source="", top_k="6")
    assert form.check() == AskRequest(question="why?", top_k=6, source=None)


def test_chart_keeps_its_labels_inside_and_its_order() -> None:
    chart = draw_verdict(0.45, 1.0, [0.2, 0.6])
    assert chart.best is not None
    assert chart.best_x is not None
    assert chart.passage_xs[0] < chart.threshold_x < chart.passage_xs[1] < chart.best_x
    assert 0 < chart.best.x < WIDTH
    assert chart.ticks[0].text == "0.0"


def test_chart_reaches_below_zero_when_a_cosine_does() -> None:
    chart = draw_verdict(0.45, -0.5)
    assert chart.best_x == chart.left
    assert chart.ticks[0].text == "-0.5"


def test_chart_without_a_passage_shows_the_threshold_alone() -> None:
    chart = draw_verdict(0.45, None)
    assert chart.best is None
    assert chart.left < chart.threshold_x < chart.right


def test_passages_are_shown_once_each_with_the_cited_first() -> None:
    view = view_answer(make_answer(), BASE)
    assert [passage.anchor for passage in view.passages] == ["c-1", "c-2", "p-3", "p-4"]
    assert view.unsupported_count == 1


def test_copied_command_survives_quotes_in_the_question() -> None:
    answer = make_answer().model_copy(update={"question": 'it\'s $HOME `x`; "y"'})
    command = make_curl(answer, BASE)
    assert command.startswith("curl -s http://127.0.0.1:8000/ask -H 'content-type:")
    assert "'\"'\"'" in command


def test_markdown_to_copy_has_numbered_references() -> None:
    markdown = make_markdown(make_answer(), BASE)
    assert "[1] Data model, With Statement Context Managers <https://docs.python.org" in markdown
    refused = make_markdown(make_refusal(), BASE)
    assert "[1]" not in refused
    assert "http" not in refused


LOCAL = "file:handbook/setup guide.md#install"


def test_a_local_file_is_shown_by_its_path_and_opened_in_these_pages() -> None:
    answer = make_answer()
    citation = answer.citations[0].model_copy(update={"source_url": LOCAL})
    chunks = [chunk.model_copy(update={"source_url": LOCAL}) for chunk in answer.retrieved_chunks]
    local = answer.model_copy(update={"citations": [citation], "retrieved_chunks": chunks})

    markdown = make_markdown(local, BASE)
    assert "(handbook/setup guide.md#install)" in markdown
    assert f"<http://127.0.0.1:8000/sources/{citation.chunk_id}>" in markdown
    assert "file:" not in markdown
    page = Templates().render("_answer.html", view=view_answer(local, BASE))
    assert '<span class="address">handbook/setup guide.md#install</span>' in page
    assert f'href="/sources/{citation.chunk_id}#passage"' in page
    assert not re.search(r'href="(?![/#])', page)


async def test_the_source_view_of_a_local_file_has_no_link_out() -> None:
    first = make_answer().retrieved_chunks[0].chunk_id

    async def read(chunk_id: str) -> Source:
        return find_passage(chunk_id).model_copy(update={"source_url": LOCAL})

    page = Templates().render("source.html", context=await read_context(read, first))
    assert "handbook/setup guide.md#install</span>" in page
    assert "file:" not in page


def result_of(page: str) -> str:
    return page[page.index('<div id="result">') : page.index('<template id="offline">')]


def test_asset_addresses_change_with_their_content(tmp_path: Path) -> None:
    for folder in ("templates", "static"):
        (tmp_path / folder).mkdir()
    (tmp_path / "texts.yaml").write_text("a: b\n")
    (tmp_path / "static" / "x.css").write_text("a{}")
    first = Templates(tmp_path, GLOSSARY).asset("x.css")
    (tmp_path / "static" / "x.css").write_text("b{}")
    assert Templates(tmp_path, GLOSSARY).asset("x.css") != first


async def test_passage_that_does_not_exist_is_said_in_words(client: httpx.AsyncClient) -> None:
    page = await client.get("/sources/nope", headers={"accept": "text/html"})
    assert page.status_code == 422
    assert "<h1>" in page.text


async def test_feedback_on_an_unknown_answer_is_not_kept(
    client: httpx.AsyncClient, services: StagedServices
) -> None:
    page = await client.post("/a/nope/feedback", data={"thumb": "up"})
    assert page.status_code == 404
    assert services.feedback == {}


async def test_unknown_reason_of_a_thumb_counts_as_none(
    client: httpx.AsyncClient, services: StagedServices
) -> None:
    ask_id = make_answer().id
    page = await client.post(f"/a/{ask_id}/feedback", data={"thumb": "up", "reason": "<b>"})
    assert page.status_code == 303
    assert services.feedback[ask_id] == ("up", "", "")


async def test_thumb_that_is_none_is_refused(
    client: httpx.AsyncClient, services: StagedServices
) -> None:
    page = await client.post(f"/a/{make_answer().id}/feedback", data={"thumb": "sideways"})
    assert page.status_code == 422
    assert services.feedback == {}


async def test_history_takes_no_time_without_a_zone(client: httpx.AsyncClient) -> None:
    assert (await client.get("/history?before=2026-01-01T00:00:00")).status_code == 200
    assert (await client.get("/history?before=soon")).status_code == 422


def test_history_page_leads_to_the_next_with_its_filters() -> None:
    query = HistoryQuery(outcome="abstained", source="a&b")
    address = query.earlier_than(datetime(2026, 1, 2, tzinfo=UTC))
    assert address == (
        "/history?outcome=abstained&source=a%26b&before=2026-01-02T00%3A00%3A00%2B00%3A00"
    )
    assert query.to_filter().status == "abstained"


async def test_context_is_read_on_both_sides_and_no_further_than_needed() -> None:
    passages = {
        f"{n}": Source(
            chunk_id=f"{n}",
            text=f"Passage {n}.",
            source="s",
            source_url="https://x.example",
            title="T",
            section_heading="A" if n < 5 else "B",
            position=n,
            previous_chunk_id=f"{n - 1}" if n else None,
            next_chunk_id=f"{n + 1}" if n < 9 else None,
        )
        for n in range(10)
    }

    async def read(chunk_id: str) -> Source:
        return passages[chunk_id]

    context = await read_context(read, "4", 3)
    assert [part.chunk_id for part in context.parts] == ["1", "2", "3", "4", "5", "6", "7"]
    assert [part.heading for part in context.parts] == ["A", "", "", "", "B", "", ""]
    assert [part.chunk_id for part in context.parts if part.is_asked_for] == ["4"]
    assert (context.earlier, context.later) == ("0", "8")
    edge = await read_context(read, "0", 3)
    assert (edge.earlier, edge.later) == (None, "4")
    whole = await read_context(read, "4")
    assert [part.number for part in whole.parts] == list(range(1, 11))
    assert whole.headings == ((1, "A"), (6, "B"))
    assert (whole.earlier, whole.later) == (None, None)


def test_overlapping_words_are_shown_once() -> None:
    assert overlap("One sentence. The repeated end.", "The repeated end. And more.") == 17
    assert overlap("ends so", "so it begins") == 0
    assert overlap("", "anything at all") == 0


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(0.4, "0 ms"), (999.4, "999 ms"), (1000, "1.0 s"), (56059, "56.1 s")]
)
def test_durations_carry_their_unit(milliseconds: float, text: str) -> None:
    assert format_duration(milliseconds) == text


def test_question_stands_among_the_labelled_ones_of_its_own_model_only() -> None:
    spread = Spread("s", "all-MiniLM-L6-v2", answerable=[0.5, 0.9], unanswerable=[0.1, 0.6])
    chart = view_answer(make_answer(), BASE, spread).spread_chart
    assert chart is not None
    assert chart.unanswerable_xs[0] < chart.answerable_xs[0] < chart.best_x < chart.answerable_xs[1]
    other = Spread("s", "another-model", answerable=[0.5], unanswerable=[0.1])
    assert view_answer(make_answer(), BASE, other).spread_chart is None
    assert view_answer(make_answer(), BASE).spread_chart is None


@pytest.mark.parametrize("html", ["", "<p>a</p>", "é" * 3000, "x" * 4096])
def test_a_page_is_a_whole_number_of_blocks_whatever_its_length(html: str) -> None:
    filled = in_whole_blocks(html)
    assert len(filled.encode()) % 4096 == 0
    assert filled.rstrip("\n") == html
