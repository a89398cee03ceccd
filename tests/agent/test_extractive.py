from __future__ import annotations

import pytest

from agent.extractive import ExtractiveAgent
from tests.agent.fakes import FOR_TEXT, INIT_TEXT, PORT_TEXT, FakeTools, hit, task

SENTENCE = "I could not find this in the documentation."
HITS = (
    hit("for", FOR_TEXT, heading='The "for" statement', cosine=0.7),
    hit("init", INIT_TEXT, heading="Basic customization", cosine=0.5, rank=2),
    hit("port", PORT_TEXT, heading="Configuration", cosine=0.3, rank=3),
)


async def ask(question: str) -> tuple[str, str]:
    outcome = await ExtractiveAgent(SENTENCE).answer(task(question), FakeTools(HITS))
    return outcome.status, outcome.text


async def test_a_definition_is_quoted_verbatim_with_its_code_and_number() -> None:
    status, text = await ask("What does the for statement do?")
    assert status == "answered"
    assert text.startswith(
        'The "for" statement is used to iterate over the elements of a sequence (such as a string,'
        " tuple or list) or other iterable object: [1]"
    )
    assert 'for_stmt ::= "for" target_list "in" starred_list ":" suite' in text


async def test_the_sentence_under_a_signature_names_what_it_defines() -> None:
    _, text = await ask("What does object.__init__ do?")
    assert text.startswith(
        "`object.__init__(self[, ...])`: Called after the instance has been created"
        " (by `__new__()`), but before it is returned to the caller. [2]"
    )


@pytest.mark.parametrize("world", ["in Java", "using React", "on AWS"])
async def test_a_question_about_another_world_is_refused(world: str) -> None:
    assert await ask(f"What does the for statement do {world}?") == ("refused", SENTENCE)


@pytest.mark.parametrize("end", ["in Python", "with None", "in java", "with Sequence"])
async def test_a_name_that_says_nothing_new_is_no_other_world(end: str) -> None:
    status, _ = await ask(f"What does the for statement do {end}?")
    assert status == "answered"


async def test_a_value_is_found_by_the_identifier_it_belongs_to() -> None:
    _, text = await ask("What does VOUCH_PORT set?")
    assert "`VOUCH_PORT` sets the port of the page. [3]" in text


async def test_code_stays_whole_with_the_sentence_that_introduces_it() -> None:
    _, text = await ask("How do I start everything?")
    assert "To start everything, run: [3]\n\n```sh\nmake run\n```" in text


async def test_a_question_that_no_sentence_covers_is_refused() -> None:
    outcome = await ExtractiveAgent(SENTENCE).answer(
        task("Which cities does the railway to Lisbon pass?"), FakeTools(HITS)
    )
    assert outcome.status == "refused"
    assert outcome.text == SENTENCE
    assert len(outcome.evidence) == 3


async def test_no_hits_at_all_is_refused() -> None:
    outcome = await ExtractiveAgent(SENTENCE).answer(task("What is a loop?"), FakeTools())
    assert outcome.status == "refused"


async def test_the_one_search_is_verbatim_with_the_asked_top_k() -> None:
    tools = FakeTools(HITS)
    outcome = await ExtractiveAgent(SENTENCE).answer(task("What does for do?", top_k=2), tools)
    assert tools.queries == [("What does for do?", 2, "")]
    assert [call.tool for call in outcome.tool_calls] == ["search_kb"]
    assert outcome.kind == "extractive"


async def test_an_identifier_that_no_passage_contains_is_refused() -> None:
    status, _ = await ask("Which port does VOUCH_ADMIN_PORT set?")
    assert status == "refused"


async def test_a_sentence_that_leans_on_the_one_before_brings_it_along() -> None:
    text = "The cache keeps answers for one hour. It evicts the oldest entry first when full."
    outcome = await ExtractiveAgent(SENTENCE).answer(
        task("Which entry is evicted first?"), FakeTools((hit("cache", text),))
    )
    assert outcome.text.startswith("The cache keeps answers for one hour. [1]\n\nIt evicts")
