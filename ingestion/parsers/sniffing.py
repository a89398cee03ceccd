"""What some bytes are: by content first, by name and claim where content does not tell."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import PurePosixPath
from zipfile import BadZipFile, ZipFile

from ingestion.decoding import decode
from ingestion.document import RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.llms_full import is_llms_full
from ingestion.parsers.transcript import is_dialogue

_OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = f"{_OFFICE}wordprocessingml.document"
PPTX = f"{_OFFICE}presentationml.presentation"
XLSX = f"{_OFFICE}spreadsheetml.sheet"
PDF = "application/pdf"
_BY_MEMBER = {"word/document.xml": DOCX, "ppt/presentation.xml": PPTX, "xl/workbook.xml": XLSX}
_NAMED = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/mdx",
    ".txt": "text/plain",
    ".text": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".pdf": PDF,
    ".rst": "text/x-rst",
    ".rest": "text/x-rst",
    ".adoc": "text/asciidoc",
    ".asciidoc": "text/asciidoc",
    ".asc": "text/asciidoc",
    ".docx": DOCX,
    ".pptx": PPTX,
    ".xlsx": XLSX,
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".ipynb": "application/x-ipynb+json",
    ".yml": "application/yaml",
    ".yaml": "application/yaml",
    ".rss": "application/rss+xml",
    ".atom": "application/atom+xml",
    ".xml": "application/xml",
    ".vtt": "text/vtt",
    ".srt": "application/x-subrip",
    ".py": "text/x-python",
}
_CODE = (
    "js mjs ts tsx jsx go rs java kt c h cc cpp hpp cs rb php swift scala sh lua pl".split()  # noqa: SIM905 - as a sentence it can be read
)
_BY_SUFFIX = {**_NAMED, **{f".{name}": "text/x-source" for name in _CODE}}
SUFFIXES = frozenset(_BY_SUFFIX)
"""Names a folder is searched for."""

_ALIASES = {
    "application/json": "application/x-ipynb+json",
    "text/x-markdown": "text/markdown",
    "text/xml": "application/xml",
    "application/xhtml+xml": "text/html",
    "application/x-yaml": "application/yaml",
    "text/yaml": "application/yaml",
}
_SUFFIXLESS = frozenset({"", ".1", ".in"})
_PLAIN = frozenset({"text/plain", "text/markdown", ""})
_MARKUP = frozenset({"text/plain", "application/xml", "", "application/octet-stream"})
_PROLOG = r"^\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*"
_HTML = re.compile(_PROLOG + r"<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_FEED = re.compile(_PROLOG + r"<(?:rss|rdf:RDF|(?:\w+:)?feed)\b", re.DOTALL)
_MARKDOWN = re.compile(r"^(?:#{1,6} \S|```|~~~|\|[ :-]*-{3,}[ :|-]*\|?\s*$)", re.MULTILINE)
_LEAST_MARKS = 3
_SAMPLE_CHARACTERS = 4096


def sniff(content: RawContent) -> str:
    """Return the media type of some bytes; empty when nothing tells.

    Raises:
        UnreadableError: There is nothing, or a text format holds binary data.
    """
    data = content.data
    if not data.strip():
        raise UnreadableError("empty file")
    if b"%PDF-" in data[:1024]:
        return PDF
    if data.startswith(b"PK\x03\x04"):
        return _zip_type(data)
    name = content.document_id.partition("?")[0].partition("#")[0]
    claimed = content.media_type.partition(";")[0].strip().lower()
    by_name = _BY_SUFFIX.get(PurePosixPath(name).suffix.lower(), "")
    kind = by_name or _ALIASES.get(claimed, claimed)
    if not kind and PurePosixPath(name).suffix.lower() not in _SUFFIXLESS:
        return ""
    if kind.startswith(_OFFICE) or kind == PDF:
        raise UnreadableError(f"not what its name says: no {kind} begins like this")
    return _text_type(data, kind, PurePosixPath(name).name.lower())


def _zip_type(data: bytes) -> str:
    try:
        with ZipFile(BytesIO(data)) as archive:
            names = set(archive.namelist())
    except (BadZipFile, OSError, ValueError) as error:
        raise UnreadableError(f"damaged archive: {error}") from error
    found = next((kind for member, kind in _BY_MEMBER.items() if member in names), "")
    if not found:
        raise UnreadableError("an archive that is no office document")
    return found


def _text_type(data: bytes, kind: str, name: str) -> str:
    if kind not in _PLAIN | _MARKUP:
        return kind
    text = decode(data)
    sample = text[:_SAMPLE_CHARACTERS]
    if kind in _MARKUP and _HTML.match(sample):
        return "text/html"
    if kind in _MARKUP and _FEED.match(sample):
        return "application/rss+xml"
    if kind in _PLAIN:
        return _plain_type(text, kind, name)
    return kind


def _plain_type(text: str, kind: str, name: str) -> str:
    """Tell apart what people keep in plain text files."""
    if name.startswith("llms-full") or is_llms_full(text):
        return "text/x-llms-full"
    if text.startswith("WEBVTT"):
        return "text/vtt"
    if kind == "text/plain" and is_dialogue(text):
        return "text/x-dialogue"
    if kind == "text/plain" and len(_MARKDOWN.findall(text)) >= _LEAST_MARKS:
        return "text/markdown"
    return kind
