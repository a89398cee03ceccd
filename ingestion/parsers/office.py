"""Word documents and presentations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from zipfile import BadZipFile

from docx import Document
from docx.opc.exceptions import PackageNotFoundError
from docx.table import Table
from docx.text.paragraph import Paragraph
from pptx import Presentation
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape
from pptx.slide import Slide

from ingestion.document import Parsed, RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.archive import check_archive
from ingestion.parsers.builder import DocumentBuilder
from ingestion.parsers.sniffing import DOCX, PPTX

_HEADING = re.compile(r"^(?:Heading|Überschrift|Titre) (\d)$")
_BROKEN = (PackageNotFoundError, BadZipFile, SyntaxError, KeyError, ValueError, OSError)


class WordParser:
    """Reads DOCX."""

    media_types = (DOCX,)

    def parse(self, content: RawContent) -> Parsed:
        """Return the document with its headings, lists and tables.

        Raises:
            UnreadableError: It is damaged or over the archive limits.
        """
        check_archive(content.data)
        builder = DocumentBuilder()
        try:
            document = Document(BytesIO(content.data))
            for item in document.iter_inner_content():
                if isinstance(item, Table):
                    builder.table([[cell.text for cell in row.cells] for row in item.rows])
                else:
                    _add_paragraph(builder, item)
            builder.dropped["image"] += len(document.inline_shapes)
            title = document.core_properties.title
        except _BROKEN as error:
            raise UnreadableError(f"damaged document: {error}") from error
        return builder.parsed(content, title=title)


def _add_paragraph(builder: DocumentBuilder, paragraph: Paragraph) -> None:
    style = paragraph.style.name or "" if paragraph.style else ""
    heading = _HEADING.match(style)
    if style == "Title":
        builder.heading(1, paragraph.text)
    elif heading:
        builder.heading(int(heading[1]), paragraph.text)
    elif style.startswith("List"):
        builder.text(f"- {paragraph.text}" if paragraph.text.strip() else "")
    else:
        builder.text(paragraph.text)


class SlidesParser:
    """Reads PPTX."""

    media_types = (PPTX,)

    def parse(self, content: RawContent) -> Parsed:
        """Return the presentation with a section per slide, speaker notes included.

        Raises:
            UnreadableError: It is damaged or over the archive limits.
        """
        check_archive(content.data)
        builder = DocumentBuilder()
        try:
            slides = Presentation(BytesIO(content.data)).slides
            for number, slide in enumerate(slides, start=1):
                builder.facts = {"slide": number}
                builder.anchor = f"slide={number}"
                _add_slide(builder, slide, number)
        except _BROKEN as error:
            raise UnreadableError(f"damaged presentation: {error}") from error
        return builder.parsed(content)


def _add_slide(builder: DocumentBuilder, slide: Slide, number: int) -> None:
    title = slide.shapes.title
    words = title.text_frame.text if title is not None else ""
    builder.heading(1, words or f"Slide {number}")
    for shape in _flat(slide.shapes):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if isinstance(shape, GraphicFrame) and shape.has_table:
            builder.table([[cell.text for cell in row.cells] for row in shape.table.rows])
        elif shape.has_text_frame:
            builder.text(str(getattr(shape, "text_frame").text))  # noqa: B009 - typed nowhere
        else:
            builder.dropped["shape"] += 1
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        builder.text(slide.notes_slide.notes_text_frame.text)


def _flat(shapes: Iterable[BaseShape]) -> Iterator[BaseShape]:
    for shape in shapes:
        if isinstance(shape, GroupShape):
            yield from _flat(shape.shapes)
        else:
            yield shape
