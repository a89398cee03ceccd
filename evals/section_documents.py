"""Sections of a labelled corpus as documents of the pipeline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from evals.sets import Section
from ingestion.document import Block, ParsedDocument
from ingestion.parsers.markdown import markdown_blocks
from ingestion.parsers.plain import plain_blocks
from ingestion.parsers.source_code import defined_names, enclosing_signatures

SECTIONS_VERSION = "sections-2"
"""Part of the cache key: scratch builds of other documents are not comparable."""

_NAMES_CHARACTERS = 160


def section_documents(sections: Sequence[Section]) -> Iterator[ParsedDocument]:
    """Yield each section as a document, in order.

    A piece of a program file, which has neither heading nor address, is read as the parser of
    source code reads it within its file: under the signature around it, and with the names that
    the file defines.

    Args:
        sections: Pieces of one file have one title and stand in the file's order.
    """
    before: defaultdict[str, list[str]] = defaultdict(list)
    whole: defaultdict[str, list[str]] = defaultdict(list)
    for section in sections:
        whole[section.title].append(section.text)
    names = {title: defined_names("\n".join(texts)) for title, texts in whole.items()}
    for section in sections:
        if section.heading or section.url or not names[section.title]:
            yield section_document(section)
        else:
            yield _piece_of_code(section, before[section.title], names[section.title])
        before[section.title].append(section.text)


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


def _piece_of_code(section: Section, before: Sequence[str], names: Sequence[str]) -> ParsedDocument:
    around = enclosing_signatures("\n".join(before))
    return ParsedDocument(
        document_id=section.id,
        title=around[0] if around else "",
        url="",
        text=section.text,
        blocks=(Block("code", 0, len(section.text)),),
        context=" ".join(names)[:_NAMES_CHARACTERS],
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
