"""The language model: the agent that runs it, and the only file that knows the OpenAI client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar, cast

import httpx2
import openai
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from agent.budget import Budget, Limits
from agent.capture import CapturingTools
from agent.chat import ChatModel, ChatReply, Message, ToolSpec
from agent.completion import read_completion
from agent.contract import AgentKind, AgentOutcome, AgentTask, TokenUsage
from agent.errors import (
    AgentError,
    ModelGarbageError,
    ModelRejectedError,
    ModelRestingError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from agent.gateway_ports import ToolServer
from agent.loop import Ended, Rounds, Window
from agent.packing import PackingRules
from agent.paid import PaidModel
from agent.refusal import clean, is_refusal, take_not_found
from knowledge.tools import TOOL_NAMES, KnowledgeTools
from service.circuit import Circuit, CircuitOpenError

Answer = TypeVar("Answer")

MODEL = "model"
"""Name of the circuit of the endpoint."""

_CONNECT_SECONDS = 2.0
# A call given up after half of its time hangs; one given up sooner was not needed any more.
_SLOW_SHARE = 0.5
_RETRIES = 1
_MESSAGE_CHARACTERS = 300
# Far above what any tokenizer reaches on prose, so that only an endpoint without a limit meets it.
_MOST_CHARACTERS_PER_TOKEN = 20
_SERVER_LABEL = "vouch"
_NOT_THE_REQUEST = frozenset({401, 403, 408, 409, 429})
_CLIENT_ERRORS = range(400, 500)
_GATEWAY_TIMEOUT = 504


class LlmAgent:
    """Answers with a chat model, within budgets.

    Args:
        model: The endpoint.
        abstention_sentence: The fixed sentence of a refusal.
        limits: Rounds, calls, tokens and seconds of one ask.
        window: What one request may hold.
        packing: How evidence is packed; None packs nothing.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        abstention_sentence: str,
        limits: Limits | None = None,
        window: Window | None = None,
        packing: PackingRules | None = None,
    ) -> None:
        self._packing = packing
        self._model = model
        self._abstention_sentence = abstention_sentence
        self._limits = limits or Limits()
        self._window = window or Window()

    @property
    def kind(self) -> AgentKind:
        """Always ``llm``."""
        return "llm"

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._model.name

    async def answer(self, task: AgentTask, tools: KnowledgeTools) -> AgentOutcome:
        """Search, let the model work, and tell a refusal from an answer.

        Raises:
            AgentError: The model is down, over time or speaks garbage.
            KnowledgeError: The evidence cannot be reached.
        """
        budget = Budget(self._limits)
        captured = CapturingTools(tools, budget)
        rounds = Rounds(
            PaidModel(self._model, task.purse),
            task,
            captured,
            budget,
            window=self._window,
            abstention_sentence=self._abstention_sentence,
            packing=self._packing,
        )
        try:
            async with asyncio.timeout(self._limits.seconds):
                ended = await rounds.run()
        except TimeoutError as error:
            raise ModelTimeoutError(
                f"the model took longer than {self._limits.seconds:g} seconds"
            ) from error
        return self._outcome(ended, captured, budget)

    async def close(self) -> None:
        """Close the model's connections."""
        await self._model.close()

    def _outcome(self, ended: Ended, captured: CapturingTools, budget: Budget) -> AgentOutcome:
        raw = clean(ended.text)
        text, not_found = take_not_found(raw)
        refused = is_refusal(text, self._abstention_sentence)
        return AgentOutcome(
            kind=self.kind,
            model=self.model,
            status="refused" if refused else "answered",
            text=raw if refused else text,
            evidence=captured.evidence,
            tool_calls=captured.calls,
            rounds=budget.rounds,
            tokens=budget.usage,
            not_found=not_found,
            degraded=ended.degraded,
            prompt=ended.messages,
            packing=ended.packing,
        )


class OpenAIModel:
    """An OpenAI-compatible chat completions endpoint.

    Args:
        base_url: Empty means OpenAI's own.
        api_key: Empty for servers without keys.
        name: Model name.
        seconds: Deadline of one attempt.
        circuit: Keeps calls away while the endpoint fails; None: one of its own.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        name: str,
        seconds: float,
        circuit: Circuit | None = None,
    ) -> None:
        self._name = name
        self._circuit = circuit or Circuit(MODEL)
        self._slow_seconds = seconds * _SLOW_SHARE
        self._limit_parameter = "max_tokens"
        self._client = openai.AsyncOpenAI(
            base_url=base_url or None,
            api_key=api_key or "none",
            timeout=httpx2.Timeout(seconds, connect=_CONNECT_SECONDS),
            max_retries=_RETRIES,
        )

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._name

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def complete(
        self, messages: Sequence[Message], *, tools: Sequence[ToolSpec], answer_tokens: int
    ) -> ChatReply:
        """Run one round; see ``ChatModel``."""
        try:
            completion = await self._create(messages, tools, answer_tokens)
        except ModelRejectedError as error:
            if self._limit_parameter in str(error) and "max_completion_tokens" in str(error):
                # Newer models of OpenAI's own take the limit under this name only.
                self._limit_parameter = "max_completion_tokens"
                completion = await self._create(messages, tools, answer_tokens)
            else:
                raise
        if not isinstance(completion, ChatCompletion):
            raise ModelGarbageError("the model endpoint answers a page instead of a completion")
        body = completion.model_dump(mode="json", warnings=False)
        return _bounded(read_completion(body, messages), answer_tokens)

    async def respond(
        self, instructions: str, question: str, server: ToolServer, *, answer_tokens: int
    ) -> ChatReply:
        """Let the endpoint answer through its own tool loop; see ``GatewayModel``."""
        request: dict[str, Any] = {
            "model": self._name,
            "instructions": instructions,
            "input": question,
            "max_output_tokens": answer_tokens,
            "tools": [
                {
                    "type": "mcp",
                    "server_label": _SERVER_LABEL,
                    "server_url": server.url,
                    "authorization": server.token,
                    "allowed_tools": list(TOOL_NAMES),
                    "require_approval": "never",
                }
            ],
        }
        create = cast("Callable[..., Awaitable[object]]", self._client.responses.create)
        response = await self._call(lambda: translated(create(**request)))
        if not isinstance(response, Response):
            raise ModelGarbageError("the gateway answers a page instead of a response")
        return _bounded(_response_reply(response), answer_tokens)

    async def _create(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], answer_tokens: int
    ) -> object:
        request: dict[str, Any] = {
            "model": self._name,
            "messages": list(messages),
            self._limit_parameter: answer_tokens,
        }
        if tools:
            request["tools"] = list(tools)
        create = cast("Callable[..., Awaitable[object]]", self._client.chat.completions.create)
        return await self._call(lambda: translated(create(**request)))

    async def _call(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """Make one call unless the endpoint is left alone at the moment."""
        try:
            with self._circuit.guard(
                AgentError, besides=ModelRejectedError, slow_seconds=self._slow_seconds
            ):
                return await call()
        except CircuitOpenError as error:
            wait_seconds = max(1, round(error.retry_after_seconds))
            raise ModelRestingError(str(error), retry_after_seconds=wait_seconds) from error


async def translated(call: Awaitable[Answer]) -> Answer:
    """Await one call to the endpoint with its errors as ours."""
    try:
        return await call
    except openai.APITimeoutError as error:
        raise ModelTimeoutError("the model endpoint did not answer in time") from error
    except openai.APIStatusError as error:
        raise _status_error(error) from error
    except openai.APIResponseValidationError as error:
        raise ModelGarbageError("the model endpoint does not speak its protocol") from error
    except openai.OpenAIError as error:
        raise ModelUnavailableError(f"the model endpoint failed: {_short(error)}") from error
    except json.JSONDecodeError as error:
        raise ModelGarbageError("the model endpoint answers broken JSON") from error


def _status_error(error: openai.APIStatusError) -> AgentError:
    message = f"the model endpoint answered {error.status_code}: {_short(error)}"
    if error.status_code == _GATEWAY_TIMEOUT:
        return ModelTimeoutError(message)
    is_request = error.status_code in _CLIENT_ERRORS and error.status_code not in _NOT_THE_REQUEST
    if is_request or "tool" in message:
        return ModelRejectedError(message)
    return ModelUnavailableError(message)


def _short(error: openai.OpenAIError) -> str:
    return " ".join(str(error).split())[:_MESSAGE_CHARACTERS]


def _bounded(reply: ChatReply, answer_tokens: int) -> ChatReply:
    """Refuse a reply far beyond the length asked for: reading it would hold up everybody else."""
    if len(reply.text) > answer_tokens * _MOST_CHARACTERS_PER_TOKEN:
        raise ModelGarbageError("the model's answer is many times longer than was asked for")
    return reply


def _response_reply(response: Response) -> ChatReply:
    output = cast("list[Any] | None", response.output)
    if output is None or response.error is not None or response.status == "failed":
        raise ModelGarbageError("the gateway answers without an output")
    usage = response.usage
    spent = TokenUsage(usage.input_tokens, usage.output_tokens) if usage else TokenUsage()
    return ChatReply(response.output_text, (), spent)
