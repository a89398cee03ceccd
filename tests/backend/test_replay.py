"""A recorded ask run again."""

from __future__ import annotations

from backend.asking.replay import Replay, ReplayAgainst
from backend.caller import ANONYMOUS
from backend.contract import AskRequest
from backend.services import Services
from knowledge.errors import BuildGoneError
from tests.backend.conftest import Compose, Connect
from tests.backend.factories import INDEX, make_result
from tests.backend.fakes import FakeAgent, FakeKnowledge, says
from tests.backend.test_ask import ANSWER, QUESTION, strong


async def replay(services: Services, ask_id: str, against: ReplayAgainst = "recorded") -> Replay:
    return await services.replayer.replay(await services.recorder.find(ask_id, ANONYMOUS), against)


async def asked(make_services: Compose, knowledge: FakeKnowledge) -> tuple[Services, str]:
    services = await make_services(knowledge, FakeAgent(says(ANSWER)))
    response = await services.asker.answer(AskRequest(question=QUESTION, top_k=3), ANONYMOUS)
    knowledge.calls.clear()
    return services, response.id


async def test_the_same_input_gives_the_same_verdict_and_evidence(make_services: Compose) -> None:
    knowledge = strong()
    services, ask_id = await asked(make_services, knowledge)
    found = await replay(services, ask_id)
    assert (found.same_verdict, found.same_evidence, found.notes) == (True, True, ())
    (call,) = knowledge.calls
    assert (call[0].build, call[1], call[3]) == ("b1", QUESTION, 3)


async def test_what_changed_is_named(make_services: Compose) -> None:
    knowledge = strong()
    services, ask_id = await asked(make_services, knowledge)
    knowledge.results[QUESTION] = make_result(
        "c2", "c3", query=QUESTION, best_cosine=0.3,
        index=INDEX.model_copy(update={"build": "b2"}),
    )  # fmt: skip
    found = await replay(services, ask_id, "present")
    assert not found.same_verdict
    assert not found.same_evidence
    (part,) = found.parts
    assert (part.hits_then, part.hits_now) == (("c1", "c2"), ("c2", "c3"))
    assert (part.passed_then, part.passed_now) == (True, False)
    assert part.changed_signals["best_cosine"] == (0.8, 0.3)
    assert part.changed_cosines.keys() == {"c2"}
    assert (found.build_then, found.build_now) == ("b1", "b2")


async def test_a_build_that_is_gone_falls_back_to_the_present_and_says_so(
    make_services: Compose,
) -> None:
    knowledge = strong()
    services, ask_id = await asked(make_services, knowledge)
    knowledge.failures["direct"] = [BuildGoneError("gone")]
    found = await replay(services, ask_id)
    assert found.notes == ("build_gone",)
    assert [claims.build for claims, *_ in knowledge.calls] == ["b1", ""]


async def test_replay_over_http(connect: Connect) -> None:
    client = await connect(strong(), FakeAgent(says(ANSWER)))
    ask_id = (await client.post("/ask", json={"question": QUESTION})).json()["id"]
    found = (await client.post(f"/asks/{ask_id}/replay")).json()
    assert found["same_verdict"]
    assert (await client.post("/asks/unheard-of/replay")).status_code == 404
    assert (await client.post(f"/asks/{ask_id}/replay?against=never")).status_code == 422
