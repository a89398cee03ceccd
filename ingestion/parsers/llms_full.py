"""``llms-full.txt``: many Markdown pages in one file, in three dialects.

1. ``# Title`` and, on the next line, ``Source: URL``;
2. ``---``, a line with the page's path or address, ``---``;
3. ``# Title`` alone: each heading of level 1 outside a fence begins a page.

In the first two a ``#`` line belongs to the page it stands in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import urljoin

from ingestion.decoding import decode
from ingestion.document import Parsed, ParsedDocument, RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.markdown import first_title, markdown_blocks, plain_heading, read_blocks

_SOURCE = re.compile(r"^# (?P<title>[^\n]+)\n+Source: (?P<url>https?://\S+)[ \t]*$", re.MULTILINE)
_PATH = re.compile(
    r"^---[ \t]*\n+(?:(?:path|url|source|file):[ \t]*)?(?P<url>(?:https?://|/|\.?[\w-]+/)\S*|[\w./-]+\.mdx?)"
    r"[ \t]*\n+---[ \t]*$",
    re.MULTILINE,
)
_LEAST_PAGES = 2


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
            UnreadableError: No page delimiter of any dialect is in it.
        """
        pages = split_pages(decode(content.data), content.url)
        if not pages:
            raise UnreadableError("no page begins in it, in any of the three dialects")
        dropped: Counter[str] = Counter()
        documents = tuple(_documents(pages, dropped))
        return Parsed(documents=documents, dropped=dict(dropped))


def split_pages(text: str, url: str) -> list[Page]:
    """Return the pages in order; what stands before the first delimiter is no page.

    Args:
        text: The whole file.
        url: Address of the file, which relative paths are resolved against.
    """
    for pattern in (_SOURCE, _PATH):
        found = list(pattern.finditer(text))
        if found:
            ends = [match.start() for match in found[1:]] + [len(text)]
            return [
                Page(
                    plain_heading(match.groupdict().get("title") or ""),
                    urljoin(url, match["url"]),
                    text[match.end() : end].strip("\n"),
                )
                for match, end in zip(found, ends, strict=True)
            ]
    return _by_title(text, url)


def _by_title(text: str, url: str) -> list[Page]:
    tops = [b for b in markdown_blocks(text) if b.kind == "heading" and b.level == 1]
    if len(tops) < _LEAST_PAGES:
        return []
    ends = [block.start for block in tops[1:]] + [len(text)]
    return [
        Page(block.heading, f"{url.partition('#')[0]}#{block.anchor}", text[block.start : end])
        for block, end in zip(tops, ends, strict=True)
    ]


def is_llms_full(text: str) -> bool:
    """Tell whether a text has page delimiters with addresses."""
    return _SOURCE.search(text) is not None or len(_PATH.findall(text)) >= _LEAST_PAGES


def _documents(pages: Iterable[Page], dropped: Counter[str]) -> Iterable[ParsedDocument]:
    seen: Counter[str] = Counter()
    for page in pages:
        blocks, left_out = read_blocks(page.text)
        dropped.update(left_out)
        document = ParsedDocument(
            document_id=page.url,
            title=page.title or first_title(blocks) or page.url,
            url=page.url,
            text=page.text,
            blocks=blocks,
        )
        seen[page.url] += 1
        if seen[page.url] > 1:  # two pages that name the same address are two pages
            document = replace(document, document_id=f"{page.url} ({seen[page.url]})")
        yield document
