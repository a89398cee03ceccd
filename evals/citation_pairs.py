"""Pairs of a sentence and a passage with the truth known by construction.

From each section a few of its own sentences are taken. As they stand, and rephrased, the section
supports them; with a number, name, version, negation or opposite changed it does not, and neither
does the section next to it. Changes are made on the rephrased forms as often as on the verbatim
ones, so that a mere search for the words cannot tell the classes apart.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from backend.citing.factual import is_factual
from evals.citation_changes import CHANGES
from evals.citation_paraphrases import PARAPHRASES
from evals.sets import EvalSet, Question, Section, half_of
from prose.sentences import split_sentences

SENTENCES_PER_SECTION = 4
NUMBERED_PER_SECTION = 2  # numbers and versions are rare, and matter most
PASSAGE_LIMIT_CHARACTERS = 2400
_SHORTEST_WORDS, _LONGEST_WORDS = 7, 45
_LEAST_LETTERS = 0.72
NEIGHBOUR = "neighbour"
REFERENCE = "reference"


@dataclass(frozen=True, slots=True)
class Pair:
    """One case for the citation check.

    Attributes:
        change: ``verbatim``, a rule of rephrasing, a rule of change, or ``neighbour``.
        section_id: Where the sentence comes from.
        half: By page, so that no page stands in both halves.
    """

    sentence: str
    passage: str
    context: str
    supported: bool
    change: str
    half: Literal["dev", "test"]
    section_id: str


def build_pairs(sections: Sequence[Section]) -> list[Pair]:
    """Build the pairs of a corpus; the same corpus gives the same pairs.

    Args:
        sections: In document order: neighbours are taken by position.
    """
    pairs: list[Pair] = []
    for index, section in enumerate(sections):
        near = sections[(index + 1) % len(sections)]
        pairs += _pairs_of(section, near)
    return pairs


def _pairs_of(section: Section, near: Section) -> Iterator[Pair]:
    half = half_of(section.id.partition("#")[0])
    sentences = _candidates(section)
    for sentence, passage in sentences:
        random = Random(_digest(section.id + sentence))  # noqa: S311 - reproducible choice
        forms = {"verbatim": sentence} | _rephrased(sentence, random)
        for change, form in forms.items():
            yield _pair(form, passage, section, change, half, supported=True)
        wording = [sentence, *forms.values()]
        for change, rule in CHANGES.items():
            changed = rule(random.choice(wording), random, passage)
            if changed is not None and not _says(passage, changed):
                yield _pair(changed, passage, section, change, half, supported=False)
        other = _window(near.text, 0)
        if not _says(near.text, sentence):
            form = random.choice(wording)
            yield _pair(form, other, near, NEIGHBOUR, half, supported=False, origin=section.id)


def reference_pairs(eval_set: EvalSet) -> list[Pair]:
    """Build pairs from reference answers, which are in free words.

    Each claim of an answer is supported by the sections it is labelled with, read together; the
    same with a change is not, and neither is it by the section that follows them.
    """
    by_id = {section.id: place for place, section in enumerate(eval_set.sections)}
    pairs: list[Pair] = []
    for question in (*eval_set.queries, *eval_set.short):
        places = [by_id[each] for each in question.relevant_ids if each in by_id]
        if question.answerable and places:
            pairs += _reference_pairs(question, places, eval_set.sections)
    return pairs


def _reference_pairs(
    question: Question, places: Sequence[int], sections: Sequence[Section]
) -> Iterator[Pair]:
    gold = _merged([sections[place] for place in places])
    after = (place % len(sections) for place in range(max(places) + 1, max(places) + 9))
    near = sections[next(place for place in after if place not in places)]
    half = half_of(question.id)
    for sentence in split_sentences(question.answer):
        if not is_factual(sentence):
            continue
        text = sentence.text
        yield _pair(text, gold.text, gold, REFERENCE, half, supported=True)
        random = Random(_digest(question.id + text))  # noqa: S311 - reproducible choice
        for change, rule in CHANGES.items():
            changed = rule(text, random, gold.text)
            if changed is not None:
                named = f"{REFERENCE}_{change}"
                yield _pair(changed, gold.text, gold, named, half, supported=False)
        named = f"{REFERENCE}_{NEIGHBOUR}"
        yield _pair(text, near.text, near, named, half, supported=False)


def _merged(sections: Sequence[Section]) -> Section:
    return Section(
        id=sections[0].id,
        title="\n".join(section.title for section in sections),
        heading="\n".join(section.heading for section in sections),
        text="\n\n".join(section.text for section in sections),
    )


def _pair(
    sentence: str,
    passage: str,
    section: Section,
    change: str,
    half: Literal["dev", "test"],
    *,
    supported: bool,
    origin: str = "",
) -> Pair:
    context = f"{section.title}\n{section.heading}"
    return Pair(sentence, passage, context, supported, change, half, origin or section.id)


def _candidates(section: Section) -> list[tuple[str, str]]:
    """Pick sentences by hash, each with the part of the section around it."""
    found: dict[str, str] = {}
    for sentence in split_sentences(section.text):
        text = re.sub(r"^(?:[-*+>]|\d+[.)]) +", "", " ".join(sentence.text.split()))
        if text not in found and is_factual(sentence) and _is_prose(text):
            found[text] = _window(section.text, sentence.start)
    ordered = sorted(found, key=lambda text: _digest(section.id + text))
    chosen = ordered[:SENTENCES_PER_SECTION]
    numbered = [text for text in ordered[SENTENCES_PER_SECTION:] if re.search(r"\d", text)]
    return [(text, found[text]) for text in chosen + numbered[:NUMBERED_PER_SECTION]]


def _is_prose(text: str) -> bool:
    words = text.split()
    letters = sum(char.isalpha() for char in text) / len(text)
    return (
        _SHORTEST_WORDS <= len(words) <= _LONGEST_WORDS
        and text[0].isupper()
        and text[-1] in ".!"
        and letters >= _LEAST_LETTERS
        and max(len(word) for word in words) < 30  # noqa: PLR2004 - glued words are no prose
    )


def _window(text: str, at: int) -> str:
    """Cut the part of a text of a chunk's size that holds a position."""
    start = max(0, min(at - PASSAGE_LIMIT_CHARACTERS // 3, len(text) - PASSAGE_LIMIT_CHARACTERS))
    if start:
        start = max(text.rfind("\n", 0, at), start)
    return text[start : start + PASSAGE_LIMIT_CHARACTERS]


def _rephrased(sentence: str, random: Random) -> dict[str, str]:
    forms: dict[str, str] = {}
    for name, rule in PARAPHRASES.items():
        form = rule(sentence, random)
        if form is not None and form not in forms.values():
            forms[name] = form
    return forms


def _says(passage: str, sentence: str) -> bool:
    return " ".join(sentence.split()) in " ".join(passage.split())


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
