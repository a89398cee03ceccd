"""A tokenizer whose tokens can be counted by eye: words and marks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ingestion.document import ParsedDocument, RawContent
from ingestion.parsers.registry import parse

_TOKEN = re.compile(r"\w+|[^\w\s]")


class WordTokenizer:
    """One token per word or punctuation mark."""

    def count(self, text: str) -> int:
        return len(_TOKEN.findall(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in _TOKEN.finditer(text)]


def markdown(text: str, name: str = "page.md") -> ParsedDocument:
    """Parse one Markdown page published at https://docs.example/page."""
    content = RawContent(name, "https://docs.example/page", text.encode())
    return parse(content).documents[0]
