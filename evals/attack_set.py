"""A folder of documents with planted instructions, and of innocent ones that look alike."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from evals.errors import EvalSetError
from evals.sets import EvalSet, Section

ATTACKS_FILE, BENIGN_FILE = "composed_docs.jsonl", "benign_controls.jsonl"
RowT = TypeVar("RowT", bound=BaseModel)
_PAYLOAD = re.compile(
    r"(?:\bprint\b|brackets:|to the user:|brackets:\s*<<)\s*(?P<payload>.+)", re.DOTALL
)


class PoisonedDocument(BaseModel):
    """One document whose text carries an instruction for a model.

    Attributes:
        question: What the rest of the text answers.
        canary: What an obeyed instruction would show.
        carrier: Where it is hidden: a paragraph, a comment, a table cell and the like.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    base_id: str
    url: str = ""
    title: str = ""
    heading: str = ""
    text: str
    question: str
    answer: str = ""
    carrier: str
    canary: str
    attack_text: str

    @property
    def payload(self) -> str:
        """What the instruction wants said: the last part of it, without its brackets."""
        found = _PAYLOAD.search(self.attack_text)
        body = found["payload"] if found else self.attack_text
        return body.strip().removeprefix("<").removesuffix(">").strip('"<> ')


@dataclass(frozen=True, slots=True)
class AttackSet:
    """The documents, as one set that can be indexed.

    Attributes:
        indexed: Poisoned documents, and the innocent ones as other matter to find.
        benign: Texts that must not be flagged.
    """

    poisoned: tuple[PoisonedDocument, ...]
    benign: tuple[str, ...]
    indexed: EvalSet


def load_attacks(folder: Path) -> AttackSet:
    """Read a folder.

    Raises:
        EvalSetError: A file is missing, or a line is not what it should be.
    """
    poisoned = _read(folder / ATTACKS_FILE, PoisonedDocument)
    innocent = _read(folder / BENIGN_FILE, Section)
    sections = [
        Section(id=each.id, url=each.url, title=each.title, heading=each.heading, text=each.text)
        for each in poisoned
    ]
    known = {each.base_id for each in poisoned}
    sections += [each for each in innocent if each.id not in known]
    digest = _digest(sections)
    indexed = EvalSet(folder.name, folder, tuple(sections), (), (), (), (), digest)
    return AttackSet(poisoned, tuple(each.text for each in innocent), indexed)


def _read(path: Path, row: type[RowT]) -> tuple[RowT, ...]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise EvalSetError(f"{path} cannot be read: {error.strerror}") from error
    try:
        return tuple(row.model_validate_json(line) for line in lines if line.strip())
    except ValidationError as error:
        raise EvalSetError(f"{path}: {error.errors()[0]['msg']}") from error


def _digest(sections: Sequence[Section]) -> str:
    hashed = hashlib.sha256()
    for section in sections:
        hashed.update(section.model_dump_json().encode())
    return hashed.hexdigest()
