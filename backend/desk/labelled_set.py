"""Labelled records as a set that evaluations and calibrations read, in JSON lines. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BytesIO
from typing import Literal, get_args
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from storage.labels import LabelledAsk

ReviewLabel = Literal["right", "should_have_answered", "should_have_refused", "wrong_citation"]
LABELS: tuple[ReviewLabel, ...] = get_args(ReviewLabel)
FOLDER = "labelled"
_BAND = "recorded"


def is_answerable(label: str, status: str) -> bool | None:
    """Return what a label says of the question, or None when it says nothing of it.

    Args:
        label: One of ``LABELS``.
        status: Of the recorded ask.
    """
    match label, status:
        case ("should_have_answered", _) | ("right", "answered"):
            return True
        case ("should_have_refused", _) | ("right", "abstained"):
            return False
        case _:
            return None


def to_files(labelled: Sequence[LabelledAsk]) -> dict[str, str]:
    """Return the files of the set by name.

    A question counts as it was searched for, once; a wrong citation says nothing about whether the
    question can be answered and stands in a file of its own.
    """
    files: dict[str, list[str]] = {
        "queries.jsonl": [],
        "unanswerable.jsonl": [],
        "wrong_citations.jsonl": [],
    }
    seen: set[str] = set()
    for one in labelled:
        question = one.record.search_question
        answerable = is_answerable(one.label.label, one.record.status)
        if question.casefold() in seen:
            continue
        seen.add(question.casefold())
        row: dict[str, str | bool] = {
            "id": one.record.id,
            "question": question,
            "comment": one.label.comment,
        }
        if answerable is None:
            if one.label.label == "wrong_citation":
                files["wrong_citations.jsonl"].append(_line(row))
            continue
        row["answerable"] = answerable
        if not answerable:
            row["band"] = _BAND
        files["queries.jsonl" if answerable else "unanswerable.jsonl"].append(_line(row))
    return {name: "".join(lines) for name, lines in files.items()}


def to_archive(labelled: Sequence[LabelledAsk]) -> bytes:
    """Return the set as a zip archive of one folder; the same records give the same bytes."""
    target = BytesIO()
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for name, text in to_files(labelled).items():
            archive.writestr(ZipInfo(f"{FOLDER}/{name}"), text)
    return target.getvalue()


def _line(row: dict[str, str | bool]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
