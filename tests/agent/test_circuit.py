"""An endpoint that keeps failing is left alone; what it refuses on purpose does not count."""

from __future__ import annotations

import asyncio

import pytest

from agent.chat import Message
from agent.errors import ModelRejectedError, ModelRestingError, ModelUnavailableError
from agent.llm import OpenAIModel
from service.circuit import Circuit
from tests import scripted_model as scripted

MESSAGES: list[Message] = [{"role": "user", "content": "Which port?"}]


class Rig:
    def __init__(self, url: str, seconds: float = 30.0) -> None:
        self.now = 0.0
        self.circuit = Circuit("model", failures=2, rest_seconds=10, clock=lambda: self.now)
        self.model = OpenAIModel(
            base_url=url, api_key="", name="scripted", seconds=seconds, circuit=self.circuit
        )

    async def ask(self) -> str:
        reply = await self.model.complete(MESSAGES, tools=(), answer_tokens=10)
        return reply.text


async def test_it_is_left_alone_after_failures_and_tried_again_after_a_rest() -> None:
    down = [True]

    def script(_: scripted.ChatRequest) -> scripted.Reply:
        return scripted.status(500, "broken") if down[0] else scripted.say("Port 8000.")

    with scripted.serve(script) as served:
        rig = Rig(served.url)
        for _ in range(2):
            with pytest.raises(ModelUnavailableError):
                await rig.ask()
        asked = len(served.requests)
        with pytest.raises(ModelRestingError) as resting:
            await rig.ask()
        assert resting.value.retry_after_seconds == 10
        assert len(served.requests) == asked
        rig.now, down[0] = 10.0, False
        assert await rig.ask() == "Port 8000."
        assert rig.circuit.state == "closed"
        await rig.model.close()


async def test_requests_it_refuses_do_not_open_the_circuit() -> None:
    with scripted.serve(scripted.always(scripted.status(400, "no such parameter"))) as served:
        rig = Rig(served.url)
        for _ in range(3):
            with pytest.raises(ModelRejectedError):
                await rig.ask()
        assert rig.circuit.state == "closed"
        await rig.model.close()


async def test_a_hang_that_was_given_up_counts_and_a_call_not_needed_any_more_does_not() -> None:
    with scripted.serve(scripted.always(scripted.hang())) as served:
        rig = Rig(served.url)
        for waited, state in ((14.0, "closed"), (15.0, "closed"), (15.0, "open")):
            served.arrived.clear()
            call = asyncio.create_task(rig.ask())
            assert await asyncio.to_thread(served.arrived.wait, 20)
            rig.now += waited
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert rig.circuit.state == state
        await rig.model.close()
