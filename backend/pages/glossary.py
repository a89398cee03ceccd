"""The field's terms, read from the documentation's own glossary: one page, one sentence a term."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from backend.pages.texts import TextError
from backend.rendering import render_answer

_ENTRY = re.compile(r"^## +(?P<term>.+)\n+(?P<text>(?:(?!^## ).*\n?)*)", re.MULTILINE)
_FIRST_SENTENCE = re.compile(r".+?[.!?](?=\s|\Z)", re.DOTALL)
_NOT_A_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Term:
    """One entry.

    Attributes:
        slug: For anchors and element ids.
        sentence: Its first sentence, on one line, as plain text.
        html: The whole entry, rendered.
    """

    name: str
    slug: str
    sentence: str
    html: str


class Glossary:
    """All terms by their slug, in the order of the page."""

    def __init__(self, terms: tuple[Term, ...]) -> None:
        self.terms = terms
        self._by_slug = {term.slug: term for term in terms}

    @classmethod
    def load(cls, path: Path) -> Glossary:
        """Read a Markdown page whose second-level headings are the terms.

        Raises:
            TextError: The page has no entry.
        """
        return cls.parse(path.read_text(encoding="utf-8"))

    @classmethod
    def parse(cls, markdown: str) -> Glossary:
        """Take the entries out of a page.

        Raises:
            TextError: The page has no entry.
        """
        terms = tuple(
            _make_term(match["term"].strip(), match["text"].strip())
            for match in _ENTRY.finditer(markdown)
        )
        if not terms:
            raise TextError("the glossary has no entry")
        return cls(terms)

    def find(self, name: str) -> Term:
        """Return the entry of a term.

        Raises:
            TextError: There is none.
        """
        term = self._by_slug.get(make_slug(name))
        if term is None:
            raise TextError(f"the glossary does not explain {name}")
        return term


def make_slug(name: str) -> str:
    """Return a term's name as an element id takes it."""
    return _NOT_A_SLUG.sub("-", name.lower()).strip("-")


def _make_term(name: str, text: str) -> Term:
    joined = " ".join(text.split())
    first = _FIRST_SENTENCE.match(joined)
    return Term(
        name=name,
        slug=make_slug(name),
        sentence=first.group() if first else joined,
        html=render_answer(text, numbers=()),
    )
