"""Measures the condenser of follow-ups on conversations with the words each search must hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from backend.asking.condense import Turn, condense
from evals.errors import EvalSetError
from evals.sets import Split, half_of


class FollowUpTurn(BaseModel):
    """One question of a conversation.

    Attributes:
        expects: Words that what is searched for must hold, in any case.
        never: Words it must not hold: those of a subject that was left.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str
    expects: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


class Conversation(BaseModel):
    """Questions in order; the first stands alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    turns: tuple[FollowUpTurn, ...]


@dataclass(frozen=True, slots=True)
class FollowUpResult:
    """What became of one follow-up.

    Attributes:
        is_right: Whether the search holds what it must and nothing of a subject that was left.
        is_vague: Whether it would be asked back.
    """

    conversation_id: str
    question: str
    search_question: str
    is_right: bool
    is_vague: bool


def load_conversations(path: Path) -> tuple[Conversation, ...]:
    """Read conversations, one a line.

    Raises:
        EvalSetError: The file is missing.
    """
    if not path.is_file():
        raise EvalSetError(f"{path} is missing")
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(Conversation.model_validate_json(line) for line in lines if line.strip())


def measure_follow_ups(
    conversations: Sequence[Conversation], split: Split = "all"
) -> tuple[FollowUpResult, ...]:
    """Return one result for every question after the first of each conversation.

    Args:
        conversations: What to measure on.
        split: Half of the conversations, fixed by their ids.
    """
    results: list[FollowUpResult] = []
    for conversation in conversations:
        if split not in {"all", half_of(conversation.id)}:
            continue
        turns: list[Turn] = []
        for place, turn in enumerate(conversation.turns):
            found = condense(turn.question, turns)
            turns.append(Turn(turn.question, found.search_question))
            if place > 0:
                results.append(_judge(conversation.id, turn, found.search_question, found.way))
    return tuple(results)


def _judge(conversation_id: str, turn: FollowUpTurn, searched: str, way: str) -> FollowUpResult:
    held = searched.casefold()
    has_all = all(word.casefold() in held for word in turn.expects)
    has_none = not any(word.casefold() in held for word in turn.never)
    return FollowUpResult(
        conversation_id, turn.question, searched, has_all and has_none, way == "vague"
    )
