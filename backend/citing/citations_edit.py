"""Edits of an answer's text: markers put in, sentences and source lists taken out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from prose.sentences import Sentence

_SOURCE_LIST = re.compile(
    r"\n[ \t]*(?:#{1,6}[ \t]*|\*\*)?(?:sources?|references|citations|works cited)(?:\*\*)?[ \t]*:?"
    r"(?:\*\*)?[ \t]*\n(?P<rest>(?:[ \t]*(?:[-*+•][ \t]+|\d{1,2}[.)][ \t]+)?"
    r"(?:\[\^?\d{1,4}\]|https?://).*(?:\n|$)|[ \t]*\n)+)\s*$",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"(?:[.!?…。！？]+[\"'”’»)*_]*|\|)$")


def without_source_list(text: str) -> str:
    """Take a closing list of sources out of an answer: the real one is made from the evidence."""
    match = _SOURCE_LIST.search("\n" + text)
    return text if match is None else text[: max(0, match.start() - 1)].rstrip()


def with_markers(
    text: str, sentences: Sequence[Sentence], numbers: Mapping[int, Sequence[int]]
) -> str:
    """Put citation markers at the end of sentences, before their full stop.

    Args:
        text: The answer.
        sentences: Its sentences.
        numbers: Index of a sentence to the numbers it shall cite.
    """
    for index in sorted(numbers, reverse=True):
        sentence = sentences[index]
        closing = _CLOSING.search(sentence.text)
        at = sentence.end - (len(closing[0]) if closing else 0)
        while text[at - 1].isspace():
            at -= 1
        markers = "".join(f"[{number}]" for number in numbers[index])
        text = f"{text[:at]} {markers}{text[at:]}"
    return text


def without_sentences(text: str, sentences: Sequence[Sentence], dropped: AbstractSet[int]) -> str:
    """Take sentences out of an answer; of the gaps around each, the larger break stays."""
    pieces: list[str] = []
    gap = ""
    position = 0
    for index, sentence in enumerate(sentences):
        between = text[position : sentence.start]
        gap = max(gap, between, key=lambda part: (part.count("\n"), len(part)))
        position = sentence.end
        if index not in dropped:
            pieces += [gap if pieces else "", sentence.text]
            gap = ""
    return "".join(pieces)
