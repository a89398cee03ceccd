"""A chunk of one document, before it meets those of others."""

from __future__ import annotations

import hashlib
import re
import unicodedata
import uuid

from pydantic import BaseModel, ConfigDict, Field

from retrieval.chunk import JsonScalar

_NAMESPACE = uuid.UUID("6f0b3e0e-6d0a-5a53-8d0f-7d8f0a4f4c11")
_SPACE = re.compile(r"\s+")


class Draft(BaseModel):
    """A passage of one document, ready to be deduplicated and embedded.

    Pydantic, because drafts are kept beside each build and read back by the next one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    position: int = Field(ge=0)
    start: int = Field(ge=0, description="Offset of the text in the document.")
    text: str = Field(min_length=1)
    text_for_embedding: str = Field(min_length=1)
    parts: tuple[str, ...] = Field(default=(), description="What is embedded of each part.")
    path: tuple[str, ...]
    section_heading: str
    parent_heading: str
    source_url: str
    metadata: dict[str, JsonScalar] = Field(default_factory=dict)


def content_key(text: str) -> str:
    """Return the hash under which equal texts meet: case kept, white space and form normalised."""
    plain = _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def chunk_id(source: str, path: tuple[str, ...], text: str) -> str:
    """Return the UUIDv5 of source, heading path and content."""
    name = "\x1f".join((source, *path, content_key(text)))
    return str(uuid.uuid5(_NAMESPACE, name))
