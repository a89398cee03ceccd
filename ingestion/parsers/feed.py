"""RSS and Atom feeds: one document per entry, at the entry's own address."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from ingestion.dates import iso_utc
from ingestion.document import Parsed, ParsedDocument, RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.builder import DocumentBuilder
from ingestion.parsers.html import html_text

_TEXTS = ("encoded", "content", "description", "summary")
_DATES = ("updated", "pubDate", "published", "date")


@dataclass(frozen=True, slots=True)
class _Entry:
    title: str
    link: str
    text: str
    date: str


class FeedParser:
    """Reads RSS 2.0 and Atom."""

    media_types = ("application/rss+xml", "application/atom+xml")

    def parse(self, content: RawContent) -> Parsed:
        """Return a document per entry.

        Raises:
            UnreadableError: It is no feed, or declares entities.
        """
        entries = [entry for entry in _entries(parse_xml(content.data)) if entry.text]
        if not entries:
            raise UnreadableError("feed without entries")
        return Parsed(documents=tuple(_document(content, entry) for entry in entries))


def parse_xml(data: bytes) -> Element:
    """Return the root of an XML text that declares no entities.

    Raises:
        UnreadableError: It is malformed, or declares entities.
    """
    try:
        root: Element = fromstring(data, forbid_dtd=True)
    except DefusedXmlException as error:
        raise UnreadableError("XML that declares a document type or entities") from error
    except (ParseError, ValueError, LookupError) as error:
        raise UnreadableError(f"malformed XML: {error}") from error
    return root


def local_name(element: Element) -> str:
    """Return the tag without its name space."""
    return str(element.tag).rpartition("}")[2]


def _entries(root: Element) -> Iterator[_Entry]:
    for element in root.iter():
        if local_name(element) in {"item", "entry"}:
            fields = {local_name(child): child for child in reversed(list(element))}
            link = fields.get("link")
            address = (link.get("href") or link.text or "") if link is not None else ""
            body = next((fields[name] for name in _TEXTS if name in fields), None)
            yield _Entry(
                title=_text(fields.get("title")),
                link=address.strip(),
                text=html_text(_text(body)),
                date=iso_utc(next((_text(fields[n]) for n in _DATES if n in fields), "")),
            )


def _text(element: Element | None) -> str:
    return "".join(element.itertext()).strip() if element is not None else ""


def _document(content: RawContent, entry: _Entry) -> ParsedDocument:
    builder = DocumentBuilder()
    builder.heading(1, entry.title)
    for paragraph in entry.text.split("\n\n"):
        builder.text(paragraph)
    document = builder.document(content, title=entry.title, url=entry.link)
    name = entry.link or entry.title or content.document_id
    return replace(document, document_id=name, updated_at=entry.date or content.updated_at)
