"""Sections of a labelled corpus as documents of the pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from evals.sets import Section
from ingestion.document import Block, ParsedDocument
from ingestion.parsers.markdown import markdown_blocks
from ingestion.parsers.plain import plain_blocks


def section_document(section: Section) -> ParsedDocument:
    """Return a section as a document whose header is ``page > heading``.

    The first line becomes the heading when it repeats it, so that it is not embedded twice.
    """
    text = section.text
    blocks = tuple(_blocks(section))
    path = _page_name(section.url) or section.title
    has_heading = any(block.kind == "heading" for block in blocks)
    title = path if has_heading or not section.heading else f"{path} > {section.heading}"
    return ParsedDocument(
        document_id=section.id, title=title, url=section.url, text=text, blocks=blocks
    )


def _page_name(url: str) -> str:
    """Return what a page would be titled: the last part of its address, in words."""
    return urlsplit(url).path.strip("/").rpartition("/")[2].replace("-", " ")


def _blocks(section: Section) -> Iterator[Block]:
    text = section.text
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start) if "\n" in text[start:] else len(text)
    if section.heading and text[start:end].strip(" #") == section.heading.strip():
        yield Block("heading", start, end, level=1, heading=section.heading)
        start = end
    # Labelled corpora were cut out of pages as rendered: fences and hash signs in them are shown
    # text, and only a table row tells a section that is still in Markdown.
    if "\n|" in text:
        yield from markdown_blocks(text[start:], start)
    else:
        for block in plain_blocks(text[start:]):
            yield Block(block.kind, block.start + start, block.end + start)
