"""The forms a follow-up takes in English, told apart by rule. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prose.words import STOP_WORDS, stem, surface_words

_ASKING = r"(?:what|how|when|where|why|who|whom|whose|which)"
_AUXILIARY = (
    r"(?:is|are|was|were|do|does|did|can|could|should|shall|will|would|may|must|has|have|isn't"
    r"|aren't|doesn't|don't|can't|won't)"
)
_LEAD_IN = re.compile(
    r"^(?:(?:ok|okay|thanks|thank you|great|good|well|so|hm+|sorry|alright|right|fine|yes|no)"
    r"[,.!]*\s+(?=\w))+",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:and\s+|but\s+|or\s+)?(?:what|how)\s+about\s+|^(?:and|but|or|also|plus)\s+(?:also\s+)?",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    rf"^(?:{_ASKING}\b.*\b{_AUXILIARY}|{_AUXILIARY})\b|^{_ASKING}\s+\w+\s", re.IGNORECASE
)
_PREPOSITION = re.compile(
    r"^(?:about|across|after|as|at|before|between|by|during|for|from|if|in|inside|into|on|outside"
    r"|over|since|through|to|under|until|when|while|with|within|without)\b",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\b(?:is|was|isn't|be)\s+it\s+(?:\w+\s+)?(?:possible|allowed|legal|ok|okay|safe|necessary|true"
    r"|valid|required|best|better|worth|good|bad|enough|an?\s)|\bwhat\s+does\s+it\s+(?:mean|take)"
    r"\s+\w+|\bdoes\s+it\s+(?:take|matter)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|theirs|these|those|he|she|him|her)\b"
    rf"|\bthis\b(?=\s*(?:\?|$|{_AUXILIARY}\b|one\b|work|mean|happen|apply|cost|support|need))"
    rf"|(?:^|(?<=\bis\s)|(?<=\bare\s)|(?<=\bdo\s)|(?<=\bdoes\s)|(?<=\bdid\s)|(?<=\bcan\s)"
    r"|(?<=\bwill\s)|(?<=\bwould\s)|(?<=\babout\s)|(?<=\bof\s)|(?<=\blike\s)|(?<=\bfor\s)"
    r"|(?<=\bwith\s)|(?<=\bwithout\s)|(?<=\bthan\s)|(?<=\bwas\s))that\b",
    re.IGNORECASE,
)
_ORDINALS = {
    "first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1,
    "former": 0, "latter": -1, "1st": 0, "2nd": 1, "3rd": 2,
}  # fmt: skip
_ORDINAL = re.compile(
    rf"\b(?:the\s+)?({'|'.join(_ORDINALS)})(?:\s+ones?\b|\s*[?.!]*$)", re.IGNORECASE
)
_BARE_WORDS = """
    yes yeah yep sure please go on continue more tell explain elaborate detail details really why
    how when where not exactly example examples an a another me it give show that so is the some
    further what do you mean come and could can i have one know ok okay
"""
_BARE = frozenset(_BARE_WORDS.split())
_SAID_YES = re.compile(r"^(?:yes|yeah|yep|sure|ok|okay|please|exactly|right)\b", re.IGNORECASE)
# Words that ask about a subject and are none: alone they do not make a question of its own.
_RELATIONAL_WORDS = """
    difference default syntax reason order example result type purpose name limit
    need required allowed possible optional supported necessary mandatory called call happen mean
    work exactly inside outside several true fine same different return value advantage alternative
    exception case
"""
_RELATIONAL = frozenset(stem(word) for word in _RELATIONAL_WORDS.split())
_IS_ASKED = re.compile(
    rf"^(?:(?:and|so)\s+)?(?:{_ASKING}(?:'s)?|{_AUXILIARY}|the|an?|i|you|we|one|there)\s+",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\bbetween\s+(.+?)\s+and\s+(.+?)[?.!]*$", re.IGNORECASE)
_EITHER = re.compile(
    r"((?:[\w.-]+\s+){0,2}[\w.-]+)(?:,)?\s+(?:or|and)\s+((?:[\w.-]+\s*){1,3})", re.IGNORECASE
)


_LONGEST_ALTERNATIVE_WORDS = 4


def strip_lead_in(question: str) -> str:
    """Return a question without the politeness before it ("thanks, and on Windows?")."""
    return _LEAD_IN.sub("", question.strip())


def split_opening(question: str) -> tuple[bool, str]:
    """Return whether a question opens as an addition ("and", "what about"), and the rest."""
    match = _OPENING.match(question)
    return match is not None, question[match.end() :] if match else question


def content_words(text: str) -> list[str]:
    """Return the words that can name a subject, as written."""
    return [
        word
        for word in surface_words(text)
        if word.casefold() not in STOP_WORDS and stem(word) not in _RELATIONAL
    ]


def find_pronoun(question: str) -> re.Match[str] | None:
    """Return the first word that stands for something said before the question, or None.

    "If a class defines __eq__, is it hashable?" has its subject in itself.
    """
    match = None if _EXPLETIVE.search(question) else _PRONOUN.search(question)
    is_answered = match and len(content_words(question[: match.start()])) > 1
    return None if is_answered else match


def starts_with_pronoun(question: str) -> bool:
    """Whether nothing that could be meant stands before a question's pronoun."""
    match = find_pronoun(question)
    before = surface_words(question[: match.start()]) if match else []
    return match is not None and all(word.casefold() in STOP_WORDS for word in before)


def is_bare(question: str) -> bool:
    """Whether a question is nothing but a wish for more of the same ("why?", "yes")."""
    return all(word.casefold() in _BARE for word in surface_words(question))


def says_yes(question: str) -> bool:
    """Whether a question agrees to something."""
    return is_bare(question) and _SAID_YES.match(question) is not None


def says_no(question: str) -> bool:
    """Whether a question only turns something down, which leaves nothing to search for."""
    return (
        re.fullmatch(r"(?:no|nope|none|neither)\b[\s\w]{0,12}[.!]*", question, re.IGNORECASE)
        is not None
    )


def is_clause(question: str) -> bool:
    """Whether a question has a verb of its own ("does it run?", "how a file is closed")."""
    return _CLAUSE.match(question) is not None


def is_prepositional(fragment: str) -> bool:
    """Whether a fragment says where, when or with what ("on Windows")."""
    return _PREPOSITION.match(fragment) is not None


def has_subject(question: str) -> bool:
    """Whether a question names enough of a subject to stand alone."""
    words = content_words(question)
    if any("_" in word or any(letter.isupper() for letter in word[1:]) for word in words):
        return True
    is_definition = re.match(r"^(?:what(?:'s| is| are)|define)\b", question, re.IGNORECASE)
    return len(words) > (0 if is_definition else 1)


def find_ordinal(question: str) -> int | None:
    """Return which of several is meant ("the second one"), counted from 0; -1 is the last."""
    match = _ORDINAL.search(question)
    return _ORDINALS[match[1].casefold()] if match else None


def list_options(question: str) -> tuple[str, ...]:
    """Return the things a question sets side by side ("the difference between a and b")."""
    match = _BETWEEN.search(question) or _EITHER.search(question)
    return tuple(without_article(each) for each in match.groups()) if match else ()


def without_article(phrase: str) -> str:
    """Return a phrase without question mark and article."""
    return re.sub(r"^(?:the|an?)\s+", "", phrase.strip(" ?.!,"), flags=re.IGNORECASE)


def subject_of(question: str) -> str:
    """Return a question without the words that only ask ("how do I", "is the")."""
    text = question.strip(" ?.!,")
    while match := _IS_ASKED.match(text):
        text = text[match.end() :]
    return text


def put_in_place(question: str, phrase: str) -> str | None:
    """Return a question with a phrase in place of the one it is an alternative to, or None.

    "the finally clause" takes the place of "the else clause": both end in the same word.
    """
    words = phrase.split()
    if not 1 < len(words) <= _LONGEST_ALTERNATIVE_WORDS:
        return None
    head = stem(words[-1])
    found = [*re.finditer(r"[\w.`-]+", question)]
    for place, match in enumerate(found):
        if stem(match[0]) == head and place > 0:
            start = found[place - 1].start()
            return question[:start] + phrase + question[match.end() :]
    return None


def without_same_start(question: str, fragment: str) -> str:
    """Return a question without the ending a fragment replaces ("on macOS" for "on Windows")."""
    preposition = re.escape(fragment.split(maxsplit=1)[0])
    return re.sub(
        rf"\s{preposition}\s(?:(?!\s{preposition}\s).)*$", "", question, flags=re.IGNORECASE
    )


def first_of(options: Sequence[str], place: int) -> str | None:
    """Return the option at a place, or None when there are not so many."""
    return options[place] if -len(options) <= place < len(options) else None
