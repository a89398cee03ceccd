"""The sections a citation evaluation draws its sentences from."""

from __future__ import annotations

from evals.errors import EvalSetError
from evals.sets import EvalSet, Section
from ingestion.sample import reference_documents

SAMPLE_SET = "python_reference"


def sections_of(eval_set: EvalSet) -> tuple[Section, ...]:
    """Return the sections of a set, in document order.

    The sample corpus is not stored with its set: it is the language reference that this Python
    ships, one section per topic.

    Raises:
        EvalSetError: The set has no corpus.
    """
    if eval_set.sections:
        return eval_set.sections
    if eval_set.name != SAMPLE_SET:
        message = f"{eval_set.folder} holds no corpus.jsonl to draw sentences from"
        raise EvalSetError(message)
    return tuple(
        Section(id=document.document_id, url=document.url, title=document.title, text=document.text)
        for document in reference_documents()
    )
