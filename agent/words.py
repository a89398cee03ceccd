"""Words as the extractive agent compares them, over the common reading of words."""

from __future__ import annotations

import re

from prose.words import STOP_WORDS, parts, stem, surface_words

_OPERATOR = re.compile(r"(?<![^\s\"'`(])([+\-*/%@&|^~<>=:!]{1,3})(?![^\s\"'`),.?])")
_PLAIN_SYMBOLS = frozenset({"-", ":", "--", "---", "!", "|", "/", "*"})
# A word used as a name of the language: "for", `with`, the for statement, the keyword else.
_NAMED = re.compile(
    r"[\"`“](\w+)[\"`”]|\b([a-z]+)[ -](?:statement|clause|keyword|loop|operator|block|suite)s?\b"
    r"|\b(?:keyword|statement|operator) ([a-z]+)\b"
)

# A proper name that says where the question is asked: in Java, on Windows, using React. The words
# before it are English, so that the capital nouns of other languages do not count.
_SETTING = re.compile(r"\b(?:in|on|for|with|using|from|under) ([A-Z]\w*)")
_LITERALS = frozenset({"False", "I", "None", "True"})

_NEVER_NAMES = frozenset(
    ["a", "an", "any", "each", "its", "no", "other", "same", "that", "the", "this", "which", "your"]
)

_FRAME = """
    use using used usage mean meaning means work works difference differ different example
    examples happen happens purpose way ways kind kinds type types thing things define defined
    definition call called name named say create created possible allow allowed support supported
    many much long often set main good best advantage reason steps step available supposed python
    method function object value values documentation docs page section
"""
FRAME_WORDS = frozenset(_FRAME.split())
"""Words that frame many questions: counted, at a fraction of the weight."""


def _named(text: str) -> set[str]:
    words = (next(filter(None, match.groups())) for match in _NAMED.finditer(text))
    return {f"`{word}`" for word in words if word in STOP_WORDS - _NEVER_NAMES}


def terms(text: str) -> frozenset[str]:
    """Return all stems of a text: words, identifiers whole and in parts, operators."""
    found: set[str] = set(_OPERATOR.findall(text)) | _named(text)
    for word in surface_words(text):
        if word.casefold() not in STOP_WORDS:
            found.add(stem(word))
        found.update(parts(word))
    return frozenset(found)


def question_terms(question: str) -> tuple[str, ...]:
    """Return the distinct stems a question asks about, in order.

    An identifier counts whole; operators count when they are set apart by blanks or quotes. A
    question of nothing but stop words ("what is it?") gives none.
    """
    wanted: dict[str, None] = dict.fromkeys(sorted(_named(question)))
    for word in surface_words(question):
        if word.casefold() not in STOP_WORDS and (len(word) > 1 or word.isalpha()):
            wanted.setdefault(stem(word))
    for symbol in _OPERATOR.findall(question):
        if symbol not in _PLAIN_SYMBOLS or f"`{symbol}`" in question:
            wanted.setdefault(symbol)
    return tuple(wanted)


def settings_of(question: str) -> frozenset[str]:
    """Return the stems of the proper names that say which world a question is about."""
    names = {name for name in _SETTING.findall(question) if name not in _LITERALS}
    return frozenset(term for name in names if not is_frame(term := stem(name)))


def is_frame(term: str) -> bool:
    """Whether a stem only frames the question."""
    return term in _FRAME_STEMS


def is_code_name(term: str) -> bool:
    """Whether a question's term can only be an identifier or an operator."""
    return "_" in term or (len(term) > 1 and not any(sign.isalnum() for sign in term))


_FRAME_STEMS = frozenset(stem(word) for word in FRAME_WORDS)
