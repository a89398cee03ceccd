"""The question form: what was typed, what can be chosen, what to try first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from backend.contract import QUESTION_LIMIT_CHARACTERS, AskRequest
from backend.pages.ports import Holdings
from backend.pages.texts import Texts
from knowledge.contracts import Section

_MOST_EXAMPLES = 4
_LONGEST_HEADING = 60


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """The form as it was filled in.

    Attributes:
        source: Empty means every source.
        top_k: As typed; checked with the rest.
        conversation_id: Of the conversation a follow-up belongs to; empty for a first question.
        search_question: What to search for instead, when somebody changed it.
    """

    question: str = ""
    source: str = ""
    top_k: str = ""
    conversation_id: str = ""
    search_question: str = ""

    def check(self) -> AskRequest:
        """Return the question as the service takes it.

        Raises:
            pydantic.ValidationError: A field is not acceptable.
        """
        fields: dict[str, object] = {"question": self.question, "source": self.source or None}
        if self.conversation_id:
            fields["conversation_id"] = self.conversation_id
        if self.search_question.strip():
            fields["search_question"] = self.search_question
        if self.top_k:
            fields["top_k"] = int(self.top_k) if self.top_k.isdecimal() else self.top_k
        return AskRequest.model_validate(fields)


@dataclass(frozen=True, slots=True)
class FormProblem:
    """A question that cannot be asked, as a problem for the page."""

    detail: str
    code: str = "invalid_request"
    status: int = 422


def explain_refusal(texts: Texts, error: ValidationError) -> FormProblem:
    """Say in plain words why a form was refused."""
    first = error.errors(include_url=False, include_context=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    key = f"ask.refusals.{field}_{first['type']}"
    if texts.has(key):
        return FormProblem(texts(key, limit=QUESTION_LIMIT_CHARACTERS))
    return FormProblem(f"{field}: {first['msg']}")


def propose_questions(texts: Texts, holdings: Holdings) -> tuple[str, ...]:
    """Return questions to try: written ones for the sample corpus, else made of its headings."""
    if not holdings.sources or set(texts.many("examples.sources")) & set(holdings.sources):
        return texts.many("examples.questions")
    return tuple(
        texts("examples.from_heading", heading=heading)
        for heading in _spread(_headings(holdings.sections))
    )


def _headings(sections: Sequence[Section]) -> list[str]:
    named = (section.section_heading.strip() for section in sections)
    return list(dict.fromkeys(name for name in named if 0 < len(name) <= _LONGEST_HEADING))


def _spread(headings: Sequence[str]) -> Sequence[str]:
    """Take a few from all over, so that they are not all of the first document."""
    step = max(1, len(headings) // _MOST_EXAMPLES)
    return headings[::step][:_MOST_EXAMPLES]
