"""A follow-up is searched for as what it means, on both branches, and judged like any question."""

from __future__ import annotations

from dataclasses import dataclass

from backend.asking.clarify import SENTENCE
from backend.caller import ANONYMOUS, Caller
from backend.contract import AskRequest, AskResponse
from backend.services import Services
from backend.settings import DEFAULT_ABSTENTION_SENTENCE
from knowledge.contracts import SectionPage
from knowledge.tools import KnowledgeTools
from service.tokens import Claims
from tests.backend.conftest import Compose, Connect
from tests.backend.factories import make_result
from tests.backend.fakes import FakeAgent, FakeKnowledge, FakeTools, says

FIRST = "How do I install Vouch on macOS?"
SECOND = "How do I install Vouch on Windows?"
VAGUE = "does it support SSO?"


def knows_both(second_cosine: float = 0.8) -> FakeKnowledge:
    return FakeKnowledge(
        results={
            FIRST: make_result("c1", "c2", query=FIRST),
            SECOND: make_result("c1", query=SECOND, best_cosine=second_cosine),
            VAGUE: make_result("c1", "c2", query=VAGUE),
        }
    )


@dataclass
class ManySources(FakeKnowledge):
    """A tool server over two sources."""

    def bind(self, claims: Claims, *, source: str = "", top_k: int | None = None) -> KnowledgeTools:
        return _ManyTools(self, claims, source, top_k)


class _ManyTools(FakeTools):
    async def list_sections(self, source: str = "", cursor: str = "") -> SectionPage:
        return SectionPage(sections=(), sources={"a": 1, "b": 2}, index=self.knowledge.index)


async def ask(services: Services, question: str, **fields: object) -> AskResponse:
    body = AskRequest.model_validate({"question": question, **fields})
    return await services.asker.answer(body, ANONYMOUS)


async def test_both_branches_search_for_what_a_follow_up_means(make_services: Compose) -> None:
    knowledge = knows_both()
    agent = FakeAgent(says("The text of c1 [1]."))
    services = await make_services(knowledge, agent)
    first = await ask(services, FIRST)
    second = await ask(services, "and on Windows?", conversation_id=first.id)
    assert (second.question, second.search_question) == ("and on Windows?", SECOND)
    assert {query for claims, query, _, _ in knowledge.calls if claims.ask_id == second.id} == {
        SECOND
    }
    assert agent.tasks[-1].question == SECOND


async def test_memory_answers_nothing_the_guard_refuses(make_services: Compose) -> None:
    services = await make_services(knows_both(0.1), FakeAgent(says("The text of c1 [1].")))
    first = await ask(services, FIRST, conversation_id="talk")
    second = await ask(services, "and on Windows?", conversation_id="talk")
    assert (first.status, second.status) == ("answered", "abstained")
    assert second.answer == DEFAULT_ABSTENTION_SENTENCE
    assert second.citations == ()


async def test_nobody_follows_up_on_another_callers_question(make_services: Compose) -> None:
    services = await make_services(knows_both(), FakeAgent(says("The text of c1 [1].")))
    body = AskRequest(question=FIRST, conversation_id="talk")
    await services.asker.answer(body, Caller(name="somebody"))
    second = await ask(services, "why?", conversation_id="talk")
    assert "macOS" not in second.search_question


async def test_earlier_questions_of_a_caller_that_keeps_them_count(make_services: Compose) -> None:
    services = await make_services(knows_both(), FakeAgent(says("The text of c1 [1].")))
    response = await ask(services, "and on Windows?", earlier=[FIRST])
    assert response.search_question == SECOND


async def test_what_a_person_wrote_is_searched_for_as_it_stands(make_services: Compose) -> None:
    services = await make_services(knows_both(), FakeAgent(says("The text of c1 [1].")))
    response = await ask(services, "and there?", search_question=SECOND)
    assert (response.question, response.search_question) == ("and there?", SECOND)


async def test_question_without_a_subject_is_asked_back_with_sections(
    make_services: Compose,
) -> None:
    many = ManySources(results=knows_both().results)
    agent = FakeAgent(says("The text of c1 [1]."))
    services = await make_services(many, agent)
    response = await ask(services, VAGUE)
    assert (response.status, response.abstained) == ("needs_clarification", False)
    assert response.answer == SENTENCE
    assert response.proposals == ("does A heading support SSO?",)
    assert response.citations == ()
    assert agent.tasks == []
    chosen = await ask(services, "the first", conversation_id=response.id)
    assert chosen.search_question == "does A heading support SSO?"


async def test_the_only_source_is_the_subject_of_a_question_without_one(
    make_services: Compose,
) -> None:
    services = await make_services(knows_both(), FakeAgent(says("The text of c1 [1].")))
    response = await ask(services, VAGUE)
    assert response.search_question == "does docs support SSO?"
    assert response.status == "abstained"


async def test_stream_of_a_question_asked_back_holds_no_verdict(connect: Connect) -> None:
    many = ManySources(results=knows_both().results)
    client = await connect(many, FakeAgent(says("The text of c1 [1].")))
    headers = {"accept": "text/event-stream"}
    streamed = (await client.post("/ask", json={"question": VAGUE}, headers=headers)).text
    assert "event: verdict" not in streamed
    assert '"needs_clarification"' in streamed
    assert "The text of c1 [1]" not in streamed
