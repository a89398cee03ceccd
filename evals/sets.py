"""Labelled sets: a folder of JSON lines, read into frozen values.

A folder holds ``corpus.jsonl`` (sections with ids of their own), ``queries.jsonl``,
``short_queries.jsonl``, ``exact_tokens.jsonl`` (answerable), ``unanswerable.jsonl`` (with a band)
and ``synthetic.jsonl`` (unanswerable while the named heading is held out). Only ``queries.jsonl``
is required. A question is labelled by ids of sections, or by a topic and a verbatim quote where the
corpus is made on the spot and has no ids to rely on.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from evals.errors import EvalSetError

SYNTHETIC_FILE = "synthetic.jsonl"

Split = Literal["dev", "test", "all"]


class Row(BaseModel):
    """Base of the rows: frozen; fields an evaluation does not know are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str


class Section(Row):
    """One section of the corpus, the unit that labels name."""

    url: str = ""
    title: str = ""
    heading: str = ""
    text: str


class Hop(BaseModel):
    """One step of a question in several: a topic, and words that stand there alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    topic: str
    quote: str


class Question(Row):
    """One question with its label.

    ``hops`` are the passages that a question in two steps needs, in order, and ``second_search`` is
    what a reader of the first would search for next.

    ``also`` holds quotes of other passages that answer it as well.
    ``held_out`` is the heading whose passages are hidden while a synthetic question is asked.
    ``evidence`` is what the corpus says to it, where a row tells it beside the answer.
    ``kind`` is the file it came from (``long``, ``short``, ``exact_token``, ``unanswerable``)
    unless the row says otherwise; ``band`` is how far an unanswerable question is from the corpus.
    """

    question: str
    answer: str = ""
    evidence: str = ""
    relevant_ids: tuple[str, ...] = ()
    answerable: bool | None = None
    kind: str = ""
    band: str = ""
    topic: str = ""
    quote: str = ""
    also: tuple[str, ...] = ()
    token: str = ""
    second_search: str = ""
    hops: tuple[Hop, ...] = ()
    held_out: str = ""


@dataclass(frozen=True, slots=True)
class EvalSet:
    """A set in memory.

    Attributes:
        queries: Answerable questions, as ``queries.jsonl`` has them.
        corpus_digest: sha256 of ``corpus.jsonl``, empty without one.
        two_hop: Questions whose second search needs the first one's result.
        synthetic: Made from headings; unanswerable while those are held out.
    """

    name: str
    folder: Path
    sections: tuple[Section, ...]
    queries: tuple[Question, ...]
    short: tuple[Question, ...]
    exact: tuple[Question, ...]
    unanswerable: tuple[Question, ...]
    corpus_digest: str
    two_hop: tuple[Question, ...] = ()
    synthetic: tuple[Question, ...] = ()


RowT = TypeVar("RowT", bound=Row)


def load_set(folder: Path) -> EvalSet:
    """Read a folder.

    Raises:
        EvalSetError: The folder lacks ``queries.jsonl``, or a line is not what it should be.
    """
    if not (folder / "queries.jsonl").is_file():
        message = f"{folder} holds no queries.jsonl, so there is nothing to evaluate"
        raise EvalSetError(message)
    corpus = folder / "corpus.jsonl"
    return EvalSet(
        name=folder.name,
        folder=folder,
        sections=_rows(corpus, Section),
        queries=_questions(folder / "queries.jsonl", "long"),
        short=_questions(folder / "short_queries.jsonl", "short"),
        exact=_questions(folder / "exact_tokens.jsonl", "exact_token"),
        unanswerable=_questions(folder / "unanswerable.jsonl", "unanswerable"),
        corpus_digest=hashlib.sha256(corpus.read_bytes()).hexdigest() if corpus.is_file() else "",
        two_hop=_questions(folder / "two_hop.jsonl", "two_hop"),
        synthetic=_questions(folder / SYNTHETIC_FILE, "unanswerable"),
    )


def half_of(question_id: str) -> Literal["dev", "test"]:
    """Return the half a question belongs to, fixed for ever by its id."""
    return "dev" if hashlib.sha256(question_id.encode()).digest()[0] % 2 == 0 else "test"


def take(questions: tuple[Question, ...], split: Split) -> tuple[Question, ...]:
    """Return the questions of one half, or all of them."""
    if split == "all":
        return questions
    return tuple(question for question in questions if half_of(question.id) == split)


def _questions(path: Path, kind: str) -> tuple[Question, ...]:
    rows = _rows(path, Question)
    return tuple(row if row.kind else row.model_copy(update={"kind": kind}) for row in rows)


def _rows(path: Path, row: type[RowT]) -> tuple[RowT, ...]:
    if not path.is_file():
        return ()
    rows: list[RowT] = []
    seen: set[str] = set()
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            read = row.model_validate_json(line)
        except ValidationError as error:
            message = f"{path}, line {number}: {error.errors()[0]['msg']}"
            raise EvalSetError(message) from error
        if read.id in seen:
            message = f"{path}, line {number}: the id {read.id} stands twice"
            raise EvalSetError(message)
        seen.add(read.id)
        rows.append(read)
    return tuple(rows)
