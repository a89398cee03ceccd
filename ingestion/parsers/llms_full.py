"""``llms-full.txt``: many Markdown pages in one file.

A page begins with ``# Title`` and, on the next line, ``Source: URL``. A ``#`` line without that
second line, or inside a fence, belongs to the page it stands in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingestion.decoding import decode
from ingestion.document import Parsed, RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.markdown import parse_page, plain_heading

_PAGE = re.compile(r"^# (?P<title>[^\n]+)\n+Source: (?P<url>https?://\S+)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the file: its title, address and Markdown."""

    title: str
    url: str
    text: str


class LlmsFullParser:
    """Reads ``llms-full.txt`` as one document per page."""

    media_types = ("text/x-llms-full",)

    def parse(self, content: RawContent) -> Parsed:
        """Return one document per page, each named by its address.

        Raises:
            UnreadableError: The file has no page delimiter.
        """
        pages = split_pages(decode(content.data))
        if not pages:
            raise UnreadableError("no page begins with '# Title' and 'Source: URL'")
        return Parsed(
            documents=tuple(
                parse_page(page.text, document_id=page.url, url=page.url, title=page.title)
                for page in pages
            )
        )


def split_pages(text: str) -> list[Page]:
    """Return the pages in order; what stands before the first delimiter is no page."""
    found = list(_PAGE.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    return [
        Page(plain_heading(match["title"]), match["url"], text[match.end() : end].strip("\n"))
        for match, end in zip(found, ends, strict=True)
    ]


def is_llms_full(text: str) -> bool:
    """Tell whether a text has at least one page delimiter."""
    return _PAGE.search(text) is not None
