from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from pydoc_data.topics import topics

import pytest

from agent.chat import ChatReply, Message, ToolSpec
from agent.contract import AgentKind, AgentOutcome, AgentTask, Evidence, TokenUsage
from agent.errors import ModelUnavailableError
from agent.extractive import ExtractiveAgent
from backend.citing.citations import cite
from evals.answer_judge import ModelJudge
from evals.answer_measures import cited_share, context, faithfulness, overlap, supported_share
from evals.answer_report import answer_report
from evals.answers import evaluate_answers, measure_two_hop, summarise
from evals.quotes import holds
from evals.sample import SET_FOLDER
from evals.scratch import Scratch, open_scratch
from evals.sets import Hop, Question, load_set
from evals.workbench import Workbench
from knowledge.tools import KnowledgeTools
from retrieval.profiles import SearchProfile
from retrieval.query_embedding import QueryEmbedder
from tests.evals.test_attacks import bench
from tests.ingestion.fakes import HashEmbedder

__all__ = ["bench"]

SECTIONS = [
    {"id": "a", "url": "https://docs.example.com/a", "title": "Jobs", "heading": "Export"}
    | {"text": "The export job writes one file for each table of the database."},
    {"id": "b", "url": "https://docs.example.com/b", "title": "Jobs", "heading": "Retries"}
    | {"text": "A failed export job is started again after ten minutes."},
]
QUESTION = {"id": "q1", "question": "What does the export job write for each table?"} | {
    "answer": "One file.",
    "relevant_ids": ["a"],
    "answerable": True,
}


class BrokenAgent:
    @property
    def kind(self) -> AgentKind:
        return "llm"

    @property
    def model(self) -> str:
        return "broken"

    async def answer(self, task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
        raise ModelUnavailableError("down")

    async def close(self) -> None:
        pass


class OneWordModel:
    @property
    def name(self) -> str:
        return "one-word"

    def __init__(self, word: str) -> None:
        self._word = word
        self.asked: list[Message] = []

    async def complete(
        self, messages: Sequence[Message], *, tools: Sequence[ToolSpec], answer_tokens: int
    ) -> ChatReply:
        self.asked += messages
        return ChatReply(self._word, (), TokenUsage())

    async def close(self) -> None:
        pass


@pytest.fixture
async def scratch(tmp_path: Path, bench: Workbench) -> AsyncIterator[Scratch]:
    folder = tmp_path / "jobs"
    folder.mkdir()
    (folder / "corpus.jsonl").write_text("\n".join(json.dumps(row) for row in SECTIONS))
    (folder / "queries.jsonl").write_text(json.dumps(QUESTION))
    profiles = {"default": SearchProfile()}
    async with open_scratch(load_set(folder), bench, profiles=profiles) as opened:
        yield opened


def evidence(number: int, text: str, chunk_id: str) -> Evidence:
    return Evidence(number, chunk_id, text, "s", "", "", "", "", 0, {}, None, "search_kb")


async def test_answers_are_measured_by_agent_and_kind(scratch: Scratch) -> None:
    question = Question.model_validate(QUESTION | {"kind": "long"})
    agents = {"extractive": ExtractiveAgent(), "broken": BrokenAgent()}
    judge = ModelJudge(OneWordModel("Correct."))
    embedder = QueryEmbedder(HashEmbedder())
    results = await evaluate_answers(scratch, [question], agents, embedder, judge=judge)
    summary = summarise("jobs", results, None)
    quoted = summary.by_agent["extractive"]["long"]
    assert (quoted.answered, quoted.token_recall, quoted.faithfulness) == (1.0, 1.0, 1.0)
    assert (quoted.context_recall, quoted.context_precision) == (1.0, 0.5)
    assert quoted.judged_correct == 1.0
    broken = summary.by_agent["broken"]["all"]
    assert (broken.answered, broken.failed, broken.token_f1) == (0.0, 1.0, None)
    assert "extractive" in answer_report(summary).parts[0].body


async def test_a_second_search_is_measured_against_one(scratch: Scratch) -> None:
    question = Question(
        id="h",
        question="What happens when the thing that writes one file for each table fails?",
        second_search="failed export job started again",
        hops=(Hop(topic="a", quote="writes one file"), Hop(topic="b", quote="after ten minutes")),
    )
    figures = await measure_two_hop(scratch, [question])
    assert figures is not None
    assert figures.second_search == 1.0
    assert await measure_two_hop(scratch, []) is None


def test_overlap_is_of_words_whatever_their_form() -> None:
    found = overlap("It writes 5 files [1].", "Write 5 file")
    assert found.recall == 1.0
    assert found.precision == 1.0
    assert overlap("", "x").f1 == 0.0


def test_a_claim_without_a_citation_counts_against_faithfulness() -> None:
    text = "The export job writes one file for each table."
    answer = cite(f"{text} [1]\n\nThe moon is made of green cheese.", [evidence(1, text, "c")])
    assert faithfulness(answer) == pytest.approx(0.5)
    assert faithfulness(cite("Here it is:", [])) is None


def test_being_cited_and_being_supported_are_two_measures() -> None:
    text = "The export job writes one file for each table."
    other = "The export job never writes any file for a table."
    answer = cite(
        f"{text} [1]\n\n{other} [1]\n\nThe moon is green cheese.", [evidence(1, text, "c")]
    )
    assert cited_share(answer) == pytest.approx(2 / 3)
    assert supported_share(answer) == pytest.approx(1 / 2)
    assert cited_share(cite("Here it is:", [])) is None
    assert supported_share(cite("The moon is green cheese.", [])) is None


def test_context_counts_labels_and_passages() -> None:
    passages = [evidence(1, "alpha beta", "c1"), evidence(2, "gamma", "c2")]
    by_quote = Question(id="q", question="?", quote="beta")
    by_hops = Question(id="q", question="?", hops=(Hop(topic="t", quote="beta"),) * 2)
    by_section = Question(id="q", question="?", relevant_ids=("s1", "s2"))
    assert context(by_quote, passages, {}).precision == 0.5
    assert context(by_quote, [], {}).precision is None
    assert context(by_hops, passages, {}).recall == 1.0
    assert context(by_section, passages, {"c1": ("s1",)}).recall == 0.5


@pytest.mark.parametrize(
    ("word", "verdict"), [("correct", True), ("Incorrect", False), ("wrong", False), ("?", None)]
)
async def test_a_model_judges_in_one_word(word: str, verdict: bool | None) -> None:
    model = OneWordModel(word)
    question = Question(id="q", question="How many?", answer="Five")
    assert await ModelJudge(model).is_correct(question, "5 {answer}") is verdict
    assert "How many?" in str(model.asked[0]["content"])
    assert await ModelJudge(model).is_correct(Question(id="q", question="?"), "5") is None


def test_questions_in_two_steps_are_labelled_with_words_that_stand_there() -> None:
    questions = load_set(SET_FOLDER).two_hop
    assert len(questions) >= 20
    for question in questions:
        assert question.answer
        assert question.second_search
        assert len(question.hops) == 2
        assert question.hops[0] != question.hops[1]
        for hop in question.hops:
            assert holds(topics[hop.topic], hop.quote), (question.id, hop.quote)
