"""Anchors as the sites that render the documents make them."""

from __future__ import annotations

import re

_NOT_WORD = re.compile(r"[^\w\- ]")
_NOT_IDENTIFIER = re.compile(r"[^a-z0-9]+")


class SlugCounter:
    """Anchors of one document's headings, numbered when a heading repeats."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def slug(self, heading: str) -> str:
        """Return the anchor the way GitHub and most Markdown sites build it."""
        plain = _NOT_WORD.sub("", heading.strip().lower()).replace(" ", "-")
        count = self._seen.get(plain, 0)
        self._seen[plain] = count + 1
        return f"{plain}-{count}" if count else plain


def docutils_id(heading: str) -> str:
    """Return the anchor the way docutils and Sphinx build it from a section title."""
    return _NOT_IDENTIFIER.sub("-", heading.lower()).strip("-")
