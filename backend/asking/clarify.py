"""Asks back when a question names no subject, with proposals out of the documentation. Pure."""

from __future__ import annotations

from html import escape

from backend.asking.condense import name_subject
from backend.contract import AskResponse

SENTENCE = "Your question does not say what it is about. Which one do you mean?"
_MOST_PROPOSALS = 4
_LONGEST_HEADING = 60


def ask_back(response: AskResponse) -> AskResponse:
    """Return the response that asks back instead of answering or refusing.

    Nothing was answered, so nothing is cited; the passages nearest to the words are kept, and
    their headings make the proposals.
    """
    headings = (
        hit.section_heading.strip() or hit.title.strip() for hit in response.retrieved_chunks
    )
    named = dict.fromkeys(name for name in headings if 0 < len(name) <= _LONGEST_HEADING)
    return response.model_copy(
        update={
            "status": "needs_clarification",
            "abstained": False,
            "abstention": None,
            "answer": SENTENCE,
            "answer_html": f"<p>{escape(SENTENCE)}</p>",
            "proposals": tuple(
                name_subject(response.question, name) for name in [*named][:_MOST_PROPOSALS]
            ),
        }
    )
