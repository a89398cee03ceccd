"""The rounds of one ask: the runtime's search, the model's turns, the last turn without tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.budget import Budget
from agent.capture import CapturingTools
from agent.chat import (
    CHARACTERS_PER_TOKEN,
    ChatModel,
    ChatReply,
    Message,
    ModelCall,
    estimate_tokens,
)
from agent.contract import AgentTask, Evidence, Packing
from agent.errors import ModelRejectedError
from agent.given import kept_of
from agent.packing import EvidencePacking, PackingRules
from agent.prompt import LAST_TURN, new_nonce, pack, room_for_texts, rules
from agent.toolbox import Toolbox, tool_specs

_ANSWER_SHARE = 4
_FRAME_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Window:
    """What fits into one request.

    Attributes:
        context_tokens: Prompt and answer together.
        answer_tokens: Longest answer; never more than a quarter of the context is kept for it.
    """

    context_tokens: int = 8192
    answer_tokens: int = 800

    @property
    def answer_room(self) -> int:
        """Tokens kept free for the answer."""
        return min(self.answer_tokens, self.context_tokens // _ANSWER_SHARE)


@dataclass(frozen=True, slots=True)
class Ended:
    """What the rounds came to: last text, what fell back, last request's messages, packings."""

    text: str
    degraded: tuple[str, ...]
    messages: tuple[Message, ...]
    packing: tuple[Packing, ...] = ()


class Rounds:
    """Runs one ask. Used once.

    Args:
        model: The endpoint.
        task: The question.
        tools: Recorder over the tools of this ask, counting on ``budget``.
        budget: Rounds, calls and tokens.
        window: What one request may hold.
        abstention_sentence: The fixed sentence.
        packing: How evidence is packed; None packs nothing.
    """

    def __init__(
        self,
        model: ChatModel,
        task: AgentTask,
        tools: CapturingTools,
        budget: Budget,
        *,
        window: Window,
        abstention_sentence: str,
        packing: PackingRules | None = None,
    ) -> None:
        self._model = model
        self._task = task
        self._tools = tools
        self._budget = budget
        self._window = window
        self._nonce = new_nonce()
        self._rules: Message = {
            "role": "system",
            "content": rules(abstention_sentence, self._nonce),
        }
        self._messages: list[Message] = []
        self._shown: set[int] = set()
        self._withheld: set[int] = set()
        self._degraded: dict[str, None] = {}
        self._takes_tools = True
        self._packing = EvidencePacking(packing, task, tools)

    async def run(self) -> Ended:
        """Search verbatim, let the model work, and return what it wrote last.

        Raises:
            AgentError: The model is down, over time or speaks garbage.
            KnowledgeError: The evidence cannot be reached.
        """
        await self._tools.search_kb(self._task.search_question, self._task.top_k)
        if not self._tools.evidence:
            return self._ended("")
        await self._fit(self._tools.evidence, len(self._question) + self._rule_length)
        self._messages = self._opening("")
        toolbox = Toolbox(self._tools, self._task.top_k, self._show)
        while self._may_call_tools():
            reply = await self._complete(with_tools=True)
            if not reply.calls:
                return self._ended(reply.text)
            self._messages.append(_written(reply))
            for call in reply.calls:
                self._messages.append(_result(call, await toolbox.run(call)))
        return await self._last_turn()

    async def _last_turn(self) -> Ended:
        if len(self._tools.calls) > 1 or self._budget.rounds:
            # One plain message instead of the transcript: endpoints differ in whether they take
            # tool messages in a request that carries no tools.
            self._messages = self._opening(LAST_TURN)
            self._note("budget_spent")
        reply = await self._complete(with_tools=False)
        if reply.calls and not reply.text:
            self._note("budget_spent")
        return self._ended(reply.text)

    def _opening(self, closing: str) -> list[Message]:
        """Return the rules, all evidence so far and the question as a fresh conversation."""
        # What had no room before may have it now; what packing left out stays out.
        evidence = [
            replace(each, text=each.whole) if each.number in self._withheld else each
            for each in self._tools.evidence
        ]
        text = self._put(evidence, len(self._question) + len(closing) + self._rule_length)
        content = "\n\n".join(part for part in (text, self._question, closing) if part)
        return [self._rules, {"role": "user", "content": content}]

    @property
    def _question(self) -> str:
        return f"Question: {self._task.search_question}"

    @property
    def _rule_length(self) -> int:
        return len(str(self._rules["content"])) + _FRAME_CHARACTERS

    async def _show(self, fresh: Sequence[Evidence]) -> str:
        """Return passages new to the model as blocks, within the room that is left."""
        used = sum(len(str(message.get("content") or "")) for message in self._messages)
        used += _FRAME_CHARACTERS
        await self._fit(fresh, used)
        numbers = {each.number for each in fresh}
        given = [each for each in self._tools.evidence if each.number in numbers]
        return self._put(given, used)

    async def _fit(self, fresh: Sequence[Evidence], used_characters: int) -> None:
        room = self._room(used_characters)
        await self._packing.fit(fresh, room_for_texts(fresh, self._nonce, room))

    def _room(self, used_characters: int) -> int:
        tokens = min(self._window.context_tokens, self._budget.tokens_left)
        return (tokens - self._window.answer_room) * CHARACTERS_PER_TOKEN - used_characters

    def _put(self, evidence: Sequence[Evidence], used_characters: int) -> str:
        """Return passages as blocks; record what of each the model got, when it is first shown."""
        evidence = [each for each in evidence if each.text]
        packed = pack(evidence, self._nonce, self._room(used_characters))
        if packed.is_trimmed:
            self._note("evidence_trimmed")
        given = {passage.number: passage.text for passage in packed.passages}
        for each in evidence:
            if each.number in self._shown:
                continue
            text = given.get(each.number, "")
            if text:
                self._shown.add(each.number)
            else:
                self._withheld.add(each.number)
            self._tools.give(each.chunk_id, text, kept_of(each.whole, each.kept, text))
        self._withheld -= self._shown
        return packed.text

    def _may_call_tools(self) -> bool:
        """Whether this round can have tools and the budget still holds one answer after it."""
        wanted = 2 * (self._prompt_tokens() + self._window.answer_room)
        return (
            self._takes_tools and self._budget.allows_tools and self._budget.tokens_left >= wanted
        )

    def _prompt_tokens(self) -> int:
        return estimate_tokens(sum(len(str(each.get("content") or "")) for each in self._messages))

    async def _complete(self, *, with_tools: bool) -> ChatReply:
        tools = tool_specs() if with_tools else []
        try:
            reply = await self._model.complete(
                self._messages, tools=tools, answer_tokens=self._window.answer_room
            )
        except ModelRejectedError as error:
            if not with_tools or not error.concerns_tools:
                raise
            self._takes_tools = False
            self._note("no_tool_support")
            if self._budget.rounds:
                # It took tools and chokes on what came of them: the same evidence, put plainly.
                self._messages = self._opening(LAST_TURN)
            return await self._complete(with_tools=False)
        self._budget.spend_round(reply.usage)
        return reply

    def _note(self, name: str) -> None:
        self._degraded[name] = None

    def _ended(self, text: str) -> Ended:
        fallen = (*self._degraded, *self._packing.degraded)
        return Ended(text, fallen, tuple(self._messages), tuple(self._packing.done))


def _written(reply: ChatReply) -> Message:
    return {
        "role": "assistant",
        "content": reply.text or None,
        "tool_calls": [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in reply.calls
        ],
    }


def _result(call: ModelCall, content: str) -> Message:
    return {"role": "tool", "tool_call_id": call.call_id, "content": content}
