"""What the pages of one source share: soft 404s, and passages that stand on most of them."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ingestion.document import ParsedDocument
from ingestion.drafts import content_key

_ADDRESS = re.compile(r"https?://\S+|www\.\S+")
_SOURCE_LINE = re.compile(r"^\W*source\W.*$", re.IGNORECASE | re.MULTILINE)
_LEAST_PAGES = 5
_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The pages of a source without what they share.

    Attributes:
        documents: Pages, each once.
        same_as: Pages left out, with the page they repeat, both by document id.
        boilerplate: Blocks taken out of each page, by document id.
    """

    documents: tuple[ParsedDocument, ...]
    same_as: Mapping[str, str]
    boilerplate: Mapping[str, int]


def clean(documents: Sequence[ParsedDocument]) -> Cleaned:
    """Keep each page once, and each passage that stands on most pages on the first of them.

    A site that answers every dead address with the same page gives many documents whose text
    differs at most in the addresses in it.
    """
    first: dict[str, str] = {}
    same_as: dict[str, str] = {}
    kept: list[ParsedDocument] = []
    for document in documents:
        key = page_key(document.text)
        if key in first:
            same_as[document.document_id] = first[key]
        else:
            first[key] = document.document_id
            kept.append(document)
    shared = _shared_blocks(kept)
    boilerplate: dict[str, int] = {}
    cleaned = [_without(document, shared, boilerplate) for document in kept]
    return Cleaned(tuple(cleaned), same_as, boilerplate)


def page_key(text: str) -> str:
    """Return a hash of a page's words without addresses and lines that name its source."""
    words = _ADDRESS.sub("", _SOURCE_LINE.sub("", text)).casefold().split()
    return hashlib.sha256(" ".join(words).encode("utf-8", "surrogatepass")).hexdigest()


def _shared_blocks(documents: Sequence[ParsedDocument]) -> set[str]:
    if len(documents) < _LEAST_PAGES:
        return set()
    counted: Counter[str] = Counter()
    for document in documents:
        counted.update(
            {
                content_key(document.text[block.start : block.end])
                for block in document.blocks
                if block.kind == "text"
            }
        )
    return {key for key, count in counted.items() if count > _SHARE * len(documents)}


def _without(
    document: ParsedDocument, shared: set[str], boilerplate: dict[str, int]
) -> ParsedDocument:
    """Take out shared blocks that an earlier page has shown; marks those it shows itself."""
    if not shared:
        return document
    kept = [
        block
        for block in document.blocks
        if block.kind != "text" or content_key(document.text[block.start : block.end]) not in shared
    ]
    if not boilerplate:  # the first page keeps them all, so that they can still be found
        boilerplate[document.document_id] = 0
        return document
    if len(kept) < len(document.blocks):
        boilerplate[document.document_id] = len(document.blocks) - len(kept)
    return replace(document, blocks=tuple(kept))
