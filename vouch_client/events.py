"""The stages of an ask as they arrive. Nothing of an answer is among them before the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vouch_client.errors import ProtocolError, problem_of
from vouch_client.replies import Passage, Reply, Verdict, read_reply


class Condensed(BaseModel):
    """The question is settled, and searched for."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    ask_id: str
    search_question: str


class EvidenceFound(BaseModel):
    """These passages were found."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    passages: Annotated[tuple[Passage, ...], Field(alias="hits")]


class VerdictReached(BaseModel):
    """The evidence was judged."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    verdict: Annotated[Verdict, Field(alias="guard")]


class AnswerDrafted(BaseModel):
    """A draft is written and is being checked."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    agent_refused: bool
    rounds: int


@dataclass(frozen=True, slots=True)
class Done:
    """The last event: what the question came to."""

    reply: Reply


Event: TypeAlias = Condensed | EvidenceFound | VerdictReached | AnswerDrafted | Done

_STAGES: Mapping[str, type[Condensed | EvidenceFound | VerdictReached | AnswerDrafted]] = {
    "condensed": Condensed,
    "evidence": EvidenceFound,
    "verdict": VerdictReached,
    "drafted": AnswerDrafted,
}
_OK = 200


@dataclass
class EventReader:
    """Reads server-sent events line by line; one reader for one stream."""

    _name: str = ""
    _data: list[str] = field(default_factory=list[str])
    is_done: bool = False

    def feed(self, line: str) -> Event | None:
        """Take one line without its end; returns an event when the line completes one.

        Raises:
            ProblemError: The service said that the ask failed.
            ProtocolError: The line completes something that is no event of an ask.
        """
        if line:
            field_name, _, value = line.partition(":")
            if field_name == "event":
                self._name = value.removeprefix(" ")
            elif field_name == "data":
                self._data.append(value.removeprefix(" "))
            return None
        name, data = self._name, "\n".join(self._data)
        self._name, self._data = "", []
        return self._read(name, data) if name else None

    def end(self) -> None:
        """Say that the stream is over.

        Raises:
            ProtocolError: It ended before its last event.
        """
        if not self.is_done:
            raise ProtocolError("the stream ended before its last event")

    def _read(self, name: str, data: str) -> Event | None:
        if name == "problem":
            raise problem_of(data, _OK)
        if name == "done":
            self.is_done = True
            return Done(read_reply(data))
        stage = _STAGES.get(name)
        if stage is None:
            return None  # of a newer service
        try:
            return stage.model_validate_json(data)
        except ValidationError as error:
            raise ProtocolError(
                f"an event {name} that is none: {error.errors()[0]['msg']}"
            ) from error
