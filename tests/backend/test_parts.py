"""Questions that ask several things: each part is searched by both branches and judged."""

from __future__ import annotations

from agent.contract import AgentOutcome, AgentTask
from agent.errors import ModelUnavailableError
from agent.purse import TokenPurse
from agent.sufficiency import Sufficiency
from backend.caller import ANONYMOUS
from backend.contract import AskRequest
from knowledge.tools import KnowledgeTools
from tests.backend.conftest import Compose
from tests.backend.factories import make_outcome, make_result
from tests.backend.fakes import FakeAgent, FakeKnowledge, knows

PORTS = "Which port does the console use?"
MOON = "How far away is the moon tonight?"
BOTH = f"{PORTS} {MOON}"


def half_known() -> FakeKnowledge:
    return knows(
        {
            PORTS: make_result("c1", query=PORTS),
            MOON: make_result("c2", query=MOON, best_cosine=0.1),
        }
    )


async def answers_its_part(task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
    result = await tools.search_kb(task.search_question, task.top_k)
    return make_outcome(f"The text of {result.hits[0].chunk_id} [1].", result)


async def test_the_answer_covers_the_supported_part_and_names_the_other(
    make_services: Compose,
) -> None:
    knowledge = half_known()
    agent = FakeAgent(answers_its_part)
    services = await make_services(knowledge, agent)
    response = await services.asker.answer(AskRequest(question=BOTH), ANONYMOUS)
    assert response.answer == "The text of c1 [1]."
    assert response.not_found == (MOON,)
    searched = {(claims.branch, query) for claims, query, *_ in knowledge.calls}
    assert {("guard", PORTS), ("guard", MOON), ("agent", PORTS)} <= searched
    assert [chunk.chunk_id for chunk in response.retrieved_chunks if chunk.cited] == ["c1"]


async def test_two_supported_parts_are_both_answered(make_services: Compose) -> None:
    knowledge = half_known()
    knowledge.results[MOON] = make_result("c2", query=MOON)
    services = await make_services(knowledge, FakeAgent(answers_its_part))
    response = await services.asker.answer(AskRequest(question=BOTH), ANONYMOUS)
    assert response.answer == "The text of c1 [1].\n\nThe text of c2 [2]."
    assert response.not_found == ()
    assert response.fidelity.verdict == "exact"


async def test_without_any_supported_part_it_refuses(make_services: Compose) -> None:
    knowledge = half_known()
    knowledge.results[PORTS] = make_result("c1", query=PORTS, best_cosine=0.2)
    services = await make_services(knowledge, FakeAgent(answers_its_part))
    response = await services.asker.answer(AskRequest(question=BOTH), ANONYMOUS)
    assert response.abstained
    assert response.not_found == ()


class Check:
    """A sufficiency check with one opinion."""

    def __init__(self, opinion: Sufficiency | ModelUnavailableError) -> None:
        self._opinion = opinion

    async def check(self, question: str, passages: object, *, purse: TokenPurse) -> Sufficiency:
        if isinstance(self._opinion, ModelUnavailableError):
            raise self._opinion
        return self._opinion


async def ask_with(
    make_services: Compose, opinion: Sufficiency | ModelUnavailableError
) -> tuple[str, tuple[str, ...]]:
    services = await make_services(
        half_known(), FakeAgent(answers_its_part), sufficiency=Check(opinion)
    )
    response = await services.asker.answer(AskRequest(question=PORTS), ANONYMOUS)
    return response.abstention.reason if response.abstention else "", response.degraded


async def test_a_sufficiency_check_can_turn_an_answer_into_a_refusal(
    make_services: Compose,
) -> None:
    no = Sufficiency(is_sufficient=False, missing="the port")
    assert (await ask_with(make_services, no))[0] == "insufficient_evidence"
    yes = Sufficiency(is_sufficient=True)
    assert (await ask_with(make_services, yes))[0] == ""


async def test_a_sufficiency_check_that_fails_is_said(make_services: Compose) -> None:
    reason, degraded = await ask_with(make_services, ModelUnavailableError("down"))
    assert (reason, "sufficiency_unchecked" in degraded) == ("", True)
