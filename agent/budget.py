"""What one ask may still spend: rounds, tool calls and model tokens.

Seconds are not counted here: one ``asyncio.timeout`` around the whole agent keeps them.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.contract import TokenUsage
from agent.errors import CallBudgetSpentError


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds of one ask.

    Attributes:
        rounds: Model rounds in which tools may be called, >= 0.
        calls: Tool calls, the runtime's first search included, >= 1.
        tokens: Model tokens, prompts and completions of all rounds together.
        seconds: Wall time of the whole agent.
    """

    rounds: int = 3
    calls: int = 8
    tokens: int = 32_000
    seconds: float = 45.0


class Budget:
    """The running account of one ask."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.rounds = 0
        self.calls = 0
        self.usage = TokenUsage()

    @property
    def tokens_left(self) -> int:
        """Model tokens left, never below zero."""
        return max(0, self._limits.tokens - self.usage.prompt - self.usage.completion)

    @property
    def has_calls(self) -> bool:
        """Whether another tool call may be made."""
        return self.calls < self._limits.calls

    @property
    def allows_tools(self) -> bool:
        """Whether the next model round may call tools."""
        return self.rounds < self._limits.rounds and self.has_calls

    def spend_call(self) -> None:
        """Count one tool call.

        Raises:
            CallBudgetSpentError: No call is left.
        """
        if not self.has_calls:
            raise CallBudgetSpentError(f"all {self._limits.calls} tool calls of this ask are spent")
        self.calls += 1

    def spend_round(self, used: TokenUsage) -> None:
        """Count one model round and its tokens."""
        self.rounds += 1
        self.usage = TokenUsage(
            prompt=self.usage.prompt + used.prompt,
            completion=self.usage.completion + used.completion,
        )
