"""What a question comes to: an answer, a refusal, or a question back. Frozen, and typed by that."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from vouch_client.errors import ProtocolError


class _Wire(BaseModel):
    """Frozen; what a newer service adds is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Signals(_Wire):
    """What the guard read of the search."""

    best_cosine: float | None
    missing_terms: tuple[str, ...] = ()


class Verdict(_Wire):
    """The verdict on the evidence, with the numbers it rests on.

    Attributes:
        threshold_kind: What the threshold is compared with: the best cosine or the probability.
    """

    passed: bool
    mode: Literal["fixed", "calibrated"]
    best_cosine: float | None
    threshold: float
    threshold_kind: Literal["cosine", "probability"] = "cosine"
    probability: float | None = None
    signals: Signals
    reason: str


class Citation(_Wire):
    """One source under an answer; ``number`` is the ``[n]`` in its text.

    Attributes:
        support: How far the passage supports the sentences that cite it, in [0, 1].
    """

    number: int
    chunk_id: str
    source_url: str
    title: str
    section_heading: str
    quote: str
    support: float
    verified: bool


class Passage(_Wire):
    """A passage that was found, with what became of it.

    Attributes:
        cosine: Against the question, in [-1, 1]: a ranking signal, not a probability.
    """

    chunk_id: str
    text: str
    source: str = ""
    source_url: str
    title: str
    section_heading: str
    cosine: float
    read_by_agent: bool = False
    cited: bool = False


class Abstention(_Wire):
    """Why there is no answer."""

    reason: str
    detail: str


class _Reply(_Wire):
    """What every reply has.

    Attributes:
        text: The answer, the fixed sentence of a refusal, or the question back.
        search_question: What was searched for.
        degraded: Names of what fell back.
    """

    id: str
    created_at: str
    question: str
    search_question: str
    conversation_id: str | None = None
    text: str = Field(alias="answer")
    verdict: Verdict = Field(alias="guard")
    passages: tuple[Passage, ...] = Field(default=(), alias="retrieved_chunks")
    degraded: tuple[str, ...] = ()

    @property
    def conversation(self) -> str:
        """What a follow-up names to belong to the same conversation."""
        return self.conversation_id or self.id


class Answer(_Reply):
    """An answer from the documentation.

    Attributes:
        citations: What it rests on, by number.
        not_found: Parts of the question that the documentation does not answer.
    """

    status: Literal["answered"]
    citations: tuple[Citation, ...]
    not_found: tuple[str, ...] = ()


class Refusal(_Reply):
    """No answer, because the evidence does not carry one. The nearest passages are ``passages``."""

    status: Literal["abstained"]
    abstention: Abstention

    @property
    def reason(self) -> str:
        """Stable name of the reason."""
        return self.abstention.reason

    @property
    def detail(self) -> str:
        """The reason in a sentence."""
        return self.abstention.detail

    @property
    def missing_terms(self) -> tuple[str, ...]:
        """Words of the question that no passage found contains."""
        return self.verdict.signals.missing_terms


class Clarification(_Reply):
    """The question names no subject; ``proposals`` are questions it could be."""

    status: Literal["needs_clarification"]
    proposals: tuple[str, ...] = ()


Reply: TypeAlias = Answer | Refusal | Clarification

_REPLY: TypeAdapter[Reply] = TypeAdapter(Annotated[Reply, Field(discriminator="status")])


def read_reply(body: bytes | str) -> Reply:
    """Return a reply from its JSON.

    Raises:
        ProtocolError: It is none.
    """
    try:
        return _REPLY.validate_json(body)
    except ValidationError as error:
        raise ProtocolError(f"what came back is no reply: {error.errors()[0]['msg']}") from error
