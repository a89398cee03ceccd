"""Packed evidence in an answer: cited as given, shown as given, and in the record."""

from __future__ import annotations

from dataclasses import replace

from agent.contract import AgentOutcome, AgentTask, Evidence, Packing
from backend.caller import ANONYMOUS
from backend.citing.citations import cite
from backend.contract import AskRequest, Span
from backend.pages.passage import show_passage
from backend.pages.reading import Mark
from knowledge.contracts import FilteredHit, SearchResult
from knowledge.packing import FittedPassage, FittedPassages, StageEntry, Stretch
from knowledge.tools import KnowledgeTools
from tests.backend.conftest import Compose
from tests.backend.factories import make_evidence, make_hit, make_outcome, make_result
from tests.backend.fakes import FakeAgent, Script, knows

QUESTION = "Which port does the page use?"
ANSWER = "The page uses port 8000."
WHOLE = f"Nobody remembers why. {ANSWER} That is all."
START = WHOLE.index(ANSWER)
KEPT = ((START, START + len(ANSWER)),)
FITTED = FittedPassages(
    passages=(
        FittedPassage(chunk_id="c1", text=ANSWER, kept=(Stretch(start=START, end=KEPT[0][1]),)),
        FittedPassage(chunk_id="c2", text="", kept=()),
    ),
    repeats=(FilteredHit(chunk_id="c2", reason="near_duplicate", duplicate_of="c1"),),
    stages=(
        StageEntry(stage="search", passages=2, tokens=30, saved_tokens=0),
        StageEntry(stage="compress", passages=1, tokens=7, saved_tokens=23),
    ),
    origin_tokens=30,
    tokens=7,
    build="b1",
)


def packed(number: int, chunk_id: str, text: str, kept: tuple[tuple[int, int], ...]) -> Evidence:
    passage = make_evidence(number, make_hit(chunk_id, text=WHOLE))
    return replace(passage, text=text, stored=WHOLE, kept=kept)


def writes(text: str) -> Script:
    """Search, read packed evidence, and write this."""

    async def run(task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
        result = await tools.search_kb(task.search_question, task.top_k)
        return replace(
            make_outcome(text, result),
            evidence=(packed(1, "c1", ANSWER, KEPT), packed(2, "c2", "", ())),
            packing=(Packing(QUESTION, "applied", FITTED),),
        )

    return run


def found() -> SearchResult:
    result = make_result("c1", "c2", query=QUESTION)
    hits = tuple(hit.model_copy(update={"text": WHOLE}) for hit in result.hits)
    return result.model_copy(update={"hits": hits})


def test_a_quote_from_packed_evidence_is_located_in_the_stored_passage() -> None:
    cited = cite(f"{ANSWER} [1]", [packed(1, "c1", ANSWER, KEPT)])
    (citation,) = cited.citations
    assert citation.verified
    assert citation.span == Span(start=KEPT[0][0], end=KEPT[0][1])


def test_what_was_cut_away_bears_nothing_out() -> None:
    evidence = packed(1, "c1", ANSWER, KEPT)
    cited = cite("Nobody remembers why [1].", [evidence])
    assert not any(sentence.verified for sentence in cited.sentences)
    assert cite("Nobody remembers why [1].", [replace(evidence, text=WHOLE)]).sentences[0].verified


def test_a_passage_of_which_nothing_was_given_cannot_be_cited() -> None:
    cited = cite(f"{ANSWER} [1][2]", [packed(1, "c1", ANSWER, KEPT), packed(2, "c2", "", ())])
    assert [each.number for each in cited.citations] == [1]
    assert cited.removed_markers == (2,)
    assert cite(f"{ANSWER}", [packed(2, "c2", "", ())]).citations == ()


async def test_the_answer_shows_what_was_given_and_the_ledger_is_in_the_record(
    make_services: Compose,
) -> None:
    services = await make_services(knows({QUESTION: found()}), FakeAgent(writes(f"{ANSWER} [1]")))
    response = await services.asker.answer(AskRequest(question=QUESTION), ANONYMOUS)
    first, second = response.retrieved_chunks
    assert first.text == WHOLE
    assert first.given == (Stretch(start=KEPT[0][0], end=KEPT[0][1]),)
    assert (first.read_by_agent, first.number, first.cited) == (True, 1, True)
    assert (second.given, second.read_by_agent, second.number) == ((), False, None)
    assert response.fidelity.verdict == "exact"
    assert "packing_changed_citation" not in response.degraded
    (ledger,) = response.packing
    assert (ledger.status, ledger.origin_tokens, ledger.tokens) == ("applied", 30, 7)
    assert ledger.repeats[0].duplicate_of == "c1"
    record = await services.recorder.find(response.id, ANONYMOUS)
    assert record.response["packing"] == [ledger.model_dump(mode="json")]
    assert record.evidence[0]["text"] == ANSWER
    assert record.evidence[0]["stored"] == WHOLE


async def test_a_claim_that_only_the_whole_passage_bears_out_is_unproven_and_named(
    make_services: Compose,
) -> None:
    text = f"{ANSWER} [1]\n\nNobody remembers why [1]."
    services = await make_services(knows({QUESTION: found()}), FakeAgent(writes(text)))
    response = await services.asker.answer(AskRequest(question=QUESTION), ANONYMOUS)
    assert [each.verified for each in response.sentences] == [True, False]
    assert "packing_changed_citation" in response.degraded


def test_the_passage_is_shown_whole_with_what_was_cut_away_struck_out() -> None:
    given = [Stretch(start=KEPT[0][0], end=KEPT[0][1])]
    marks = [Mark(KEPT[0][0] + 4, KEPT[0][0] + 8, (0,))]
    assert show_passage(WHOLE, marks, given=given) == (
        '<del class="cut">Nobody remembers why. </del>The '
        '<mark data-markers="0">page</mark> uses port 8000.'
        '<del class="cut"> That is all.</del>'
    )
    assert show_passage("<b>", given=[]) == '<del class="cut">&lt;b&gt;</del>'
    assert show_passage("<b>", [Mark(2, 9)]) == "&lt;b&gt;"
