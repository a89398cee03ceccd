"""PDF: the text layer page by page, so that a citation opens the page."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from io import BytesIO

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from ingestion.document import Parsed, RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.builder import DocumentBuilder
from ingestion.parsers.plain import reflow

_HYPHENATED = re.compile(r"([A-Za-z]+)-\n([a-z]+)")
_DIGITS = re.compile(r"\d+")
_RUNNING_PAGES = 3
_EDGE_LINES = 2


class PdfParser:
    """Reads PDF files that have a text layer."""

    media_types = ("application/pdf",)

    def parse(self, content: RawContent) -> Parsed:
        """Return the file as one document with a section per page.

        Raises:
            UnreadableError: It is encrypted, damaged, or holds only images.
        """
        try:
            reader = PdfReader(BytesIO(content.data))
            if reader.is_encrypted and not reader.decrypt(""):
                raise UnreadableError("encrypted: it needs a password")
            pages = [_page_text(page.extract_text()) for page in reader.pages]
            title = str(reader.metadata.title or "") if reader.metadata else ""
        except (PyPdfError, ValueError, KeyError, TypeError, OSError) as error:
            raise UnreadableError(f"damaged PDF: {error}") from error
        if not any(pages):
            raise UnreadableError(f"no text layer: {len(pages)} pages of images")
        return _build(content, pages, title)


def _build(content: RawContent, pages: list[str], title: str) -> Parsed:
    builder = DocumentBuilder()
    running = _running_lines(pages)
    for number, page in enumerate(pages, start=1):
        if not page:
            builder.dropped["image_only_page"] += 1
            continue
        builder.facts = {"page": number}
        builder.anchor = f"page={number}"
        builder.heading(1, f"Page {number}", is_shown=False)
        lines = page.split("\n")
        kept = [line for line in lines if _key(line) not in running]
        builder.dropped["running_line"] += len(lines) - len(kept)
        for paragraph in reflow("\n".join(kept)):
            builder.text(paragraph)
    builder.dropped += Counter()
    return builder.parsed(content, title=title if len(title) > len("Untitled") else _title(pages))


def _page_text(raw: str) -> str:
    """Return the page with ligatures resolved and words joined that a line end had cut."""
    text = unicodedata.normalize("NFKC", raw).replace("\0", "")
    lines = (line.rstrip() for line in text.split("\n"))
    page = "\n".join(lines)

    def joined(match: re.Match[str]) -> str:
        """Keep the hyphen when the page writes the word with one elsewhere."""
        with_hyphen = f"{match[1]}-{match[2]}"
        return with_hyphen if with_hyphen in page else match[1] + match[2]

    return _HYPHENATED.sub(joined, page).strip("\n")


def _running_lines(pages: list[str]) -> set[str]:
    """Return the lines that head or foot most pages, page numbers aside."""
    if len(pages) < _RUNNING_PAGES:
        return set()
    counted: Counter[str] = Counter()
    for page in pages:
        lines = [line for line in page.split("\n") if line.strip()]
        counted.update({_key(line) for line in lines[:_EDGE_LINES] + lines[-_EDGE_LINES:]})
    return {line for line, count in counted.items() if count > len(pages) // 2}


def _key(line: str) -> str:
    return _DIGITS.sub("#", " ".join(line.split()))


def _title(pages: list[str]) -> str:
    first = next(page for page in pages if page)
    return next((line.strip() for line in first.split("\n") if len(line.strip()) > 3), "")  # noqa: PLR2004
