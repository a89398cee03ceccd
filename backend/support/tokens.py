"""Tokens of a sentence or passage as the support check compares them.

A token has a key that is equal for forms of one word (inflection, contraction, digit grouping) and
a kind that says how much a disagreement on it matters. A ``count`` is a number spelled as a word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import Literal

from backend.support.words import (
    CLAIM_WORDS,
    CONTRACTIONS,
    IRREGULAR,
    NEGATIONS,
    NUMBER_WORDS,
    REPHRASINGS,
    STOP_WORDS,
)

Kind = Literal["word", "name", "number", "count", "identifier", "negation", "claim", "stop"]

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(
    rf"(?P<cjk>[{_CJK}])"
    r"|(?P<flag>(?<![\w-])--?[A-Za-z][\w-]*)"
    r"|(?P<number>(?<![\w])v?\d+(?:[.,:]\d+)*(?:\.x)?)(?P<unit>%|°?[A-Za-z]{0,3}(?![\w]))?"
    rf"|(?P<word>(?:(?![{_CJK}])\w)+(?:(?:[-._:@’']|::|->)(?:(?![{_CJK}])\w)+)*)(?P<called>\(\))?"
)
_SPLIT_HYPHEN = re.compile(r"[-–]")
_CAMEL = re.compile(r"[a-z][A-Z]")
_ORDINAL = frozenset({"st", "nd", "rd", "th"})
_VOWELS = frozenset("aeiouy")
_SHORTEST_DOTTED_NAME = 5  # "e.g", "a.m" and the like are words
_SHORTEST_STEM = 3


@dataclass(frozen=True, slots=True)
class Token:
    """One comparable unit of a text.

    Attributes:
        key: Compared for equality.
        kind: What it is.
        start: First character in the text.
        end: One past the last.
    """

    key: str
    kind: Kind
    start: int
    end: int


def tokenize(text: str) -> tuple[Token, ...]:
    """Split a text into tokens, in order, with character offsets."""
    tokens: list[Token] = []
    opening = True
    position = 0
    for match in _TOKEN.finditer(text):
        between = text[position : match.start()]
        opening = opening or any(char in ".!?:\n|" for char in between)
        tokens += _tokens_of(match, is_opening=opening)
        opening = False
        position = match.end()
    return tuple(_with_names(tokens, text))


def _with_names(tokens: list[Token], text: str) -> list[Token]:
    """Take a capitalised first word for a name when the text shows that it is one.

    It does when another capitalised word follows, or when the word stands with a capital elsewhere.
    """
    names = {token.key for token in tokens if token.kind == "name"}
    named: list[Token] = []
    for token, after in zip_longest(tokens, tokens[1:]):
        starts_name = after is not None and after.kind == "name" and after.start == token.end + 1
        is_capital = token.kind == "word" and text[token.start].isupper()
        is_name = is_capital and (starts_name or token.key in names)
        named.append(Token(token.key, "name", token.start, token.end) if is_name else token)
    return named


def _tokens_of(match: re.Match[str], *, is_opening: bool) -> list[Token]:
    if match["number"]:
        return _number(match)
    if match["flag"]:
        return [Token(match[0].casefold(), "identifier", *match.span())]
    if match["cjk"]:
        return [Token(match[0], "word", *match.span())]
    return _words(match, is_opening=is_opening)


def _words(match: re.Match[str], *, is_opening: bool) -> list[Token]:
    surface = match["word"].replace("’", "'").strip("_")
    if not surface:
        return []
    folded = surface.casefold()
    parts = _contraction(folded)
    if parts is not None:
        return [_word(part, part, match.span(), is_opening=True) for part in parts]
    if folded.endswith("'s"):
        surface, folded = surface[:-2], folded[:-2]
    if match["called"] or _is_identifier(surface):
        return [Token(folded, "identifier", *match.span())]
    if "-" in surface:
        return _hyphenated(surface, match.start(), is_opening=is_opening)
    return [_word(surface, folded, match.span(), is_opening=is_opening)]


def _number(match: re.Match[str]) -> list[Token]:
    start, end = match.span("number")
    value = match["number"].lstrip("v")
    grouped = re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", value)
    value = value.replace(",", "") if grouped else value
    if re.fullmatch(r"\d+\.\d*0", value) and value.count(".") == 1:
        value = value.rstrip("0").rstrip(".") if value.endswith("00") else value
    tokens = [Token(value, "number", start, end)]
    unit = (match["unit"] or "").casefold()
    if unit and unit not in _ORDINAL:
        tokens.append(Token(stem(unit), "word", *match.span("unit")))
    return tokens


def _hyphenated(surface: str, start: int, *, is_opening: bool) -> list[Token]:
    tokens: list[Token] = []
    for part in _SPLIT_HYPHEN.split(surface):
        if part:
            span = (start, start + len(part))
            tokens.append(_word(part, part.casefold(), span, is_opening=is_opening))
        start += len(part) + 1
        is_opening = False
    return tokens


def _word(surface: str, folded: str, span: tuple[int, int], *, is_opening: bool) -> Token:
    if folded in NUMBER_WORDS:
        return Token(NUMBER_WORDS[folded], "count", *span)
    if folded in NEGATIONS:
        return Token("not" if folded in _PLAIN_NEGATIONS else folded, "negation", *span)
    if folded in CLAIM_WORDS:
        return Token(folded, "claim", *span)
    if folded in STOP_WORDS and not (surface.isupper() and len(surface) > 1):
        return Token(folded, "stop", *span)
    is_name = (surface[0].isupper() and not is_opening) or (surface.isupper() and len(surface) > 1)
    return Token(stem(folded), "name" if is_name else "word", *span)


_PLAIN_NEGATIONS = frozenset({"not", "no", "never", "none", "neither", "nor", "nothing"})


def _contraction(folded: str) -> tuple[str, ...] | None:
    if folded in CONTRACTIONS:
        return CONTRACTIONS[folded]
    if folded.endswith("n't"):
        return folded[:-3], "not"
    for ending, full in (("'re", "are"), ("'ve", "have"), ("'ll", "will"), ("'d", "would")):
        if folded.endswith(ending):
            return folded[: -len(ending)], full
    if folded in {"it's", "that's", "there's", "what's", "let's", "here's"}:
        return folded[:-2], "is"
    return None


def _is_identifier(surface: str) -> bool:
    """Whether a word is a name from code: it has a digit, underscore, dot or inner capital."""
    if "_" in surface or ":" in surface or "@" in surface or "->" in surface:
        return True
    if "." in surface:
        return len(surface) >= _SHORTEST_DOTTED_NAME or any(char.isdigit() for char in surface)
    if any(char.isdigit() for char in surface):
        return True
    return bool(_CAMEL.search(surface))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Reduce an English word to a key shared by its inflections. Not a dictionary form."""
    word = IRREGULAR.get(word, word)
    if len(word) <= _SHORTEST_STEM or not word.isascii():
        return word
    for ending, replacement in (("ies", "y"), ("ied", "y"), ("sses", "ss")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            word = word[: -len(ending)] + replacement
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending, least in (("ing", 3), ("ed", 3), ("ly", 4)):
        base = word[: -len(ending)]
        if word.endswith(ending) and len(base) >= least and _VOWELS & set(base):
            return _without_e(_undoubled(base))
    return _without_e(word)


def _undoubled(base: str) -> str:
    if len(base) > _SHORTEST_STEM and base[-1] == base[-2] and base[-1] not in "lsz":
        return base[:-1]
    return base


def _without_e(word: str) -> str:
    return word[:-1] if word.endswith("e") and len(word) > _SHORTEST_STEM else word


REPHRASED: dict[str, str] = {
    stem(word): stem(group.split()[0]) for group in REPHRASINGS for word in group.split()
}


def canonical(token: Token) -> str:
    """Return the key under which rephrasings of one word are equal."""
    return REPHRASED.get(token.key, token.key)
