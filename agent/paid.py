"""Model calls that are paid for: tokens are reserved before a call and settled after it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from agent.chat import ChatModel, ChatReply, Message, ToolSpec, estimate_tokens
from agent.errors import ModelUnavailableError
from agent.purse import TokenPurse


class PaidModel:
    """A chat model whose calls are paid for.

    Args:
        model: The endpoint.
        purse: Who pays.
    """

    def __init__(self, model: ChatModel, purse: TokenPurse) -> None:
        self._model = model
        self._purse = purse

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._model.name

    async def complete(
        self, messages: Sequence[Message], *, tools: Sequence[ToolSpec], answer_tokens: int
    ) -> ChatReply:
        """Run one round; see ``ChatModel``.

        Raises:
            AgentError: As the model does, and when too few tokens are left.
        """
        characters = sum(len(str(message.get("content") or "")) for message in messages)
        return await pay(
            self._purse,
            lambda: self._model.complete(messages, tools=tools, answer_tokens=answer_tokens),
            prompt_tokens=estimate_tokens(characters),
            answer_tokens=answer_tokens,
        )

    async def close(self) -> None:
        """Close the model's connections."""
        await self._model.close()


async def pay(
    purse: TokenPurse,
    call: Callable[[], Awaitable[ChatReply]],
    *,
    prompt_tokens: int,
    answer_tokens: int,
) -> ChatReply:
    """Make one call and settle what it cost.

    A call that was refused costs nothing. One that was given up after it was sent costs its prompt,
    which the model server has read.

    Args:
        purse: Who pays.
        call: Makes it.
        prompt_tokens: Estimate of what is sent.
        answer_tokens: Most that can come back.

    Raises:
        AgentError: As the call does, and when too few tokens are left.
    """
    reservation = await purse.reserve(prompt_tokens + answer_tokens)
    spent = prompt_tokens
    try:
        reply = await call()
        spent = reply.usage.prompt + reply.usage.completion
    except ModelUnavailableError:
        spent = 0
        raise
    finally:
        # Also when the ask is given up meanwhile: what was spent is spent.
        await asyncio.shield(asyncio.ensure_future(reservation.settle(spent)))
    return reply
