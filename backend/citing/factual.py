"""Which sentences of an answer claim something that evidence can bear out.

Headings, lead-ins, questions, code and statements about the search itself ("the passages do not
mention ...") are not claims about the documentation; they need no citation and are not marked.
"""

from __future__ import annotations

import re

from backend.support.check import without_markers
from backend.support.tokens import tokenize
from prose.sentences import Sentence

_LEAST_CONTENT_WORDS = 2
_FURNITURE = re.compile(r"#{1,6}\s|[|\s:=+-]+$|\*\*[^*]+\*\*:?$")
_ABOUT_THE_SEARCH = re.compile(
    r"\b(?:passages?|documentation|docs|sources?|evidence|context|excerpts?|i|we)\b[^.]{0,60}?"
    r"(?:\bnot|n['’]t|\bno|\bnothing)\b[^.]{0,40}?"
    r"\b(?:mention|say|state|specify|describe|cover|address|explain|find|found|information|details?)",
    re.IGNORECASE,
)


def is_factual(sentence: Sentence) -> bool:
    """Whether a sentence claims something about the documented subject."""
    if sentence.is_code:
        return False
    text = without_markers(sentence.text).strip()
    if text.endswith((":", "?")) or _FURNITURE.match(text) or _ABOUT_THE_SEARCH.search(text):
        return False
    content = [token for token in tokenize(text) if token.kind not in {"stop", "claim"}]
    return len(content) >= _LEAST_CONTENT_WORDS
