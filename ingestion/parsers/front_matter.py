"""Front matter: the YAML between ``---`` lines at the head of a Markdown page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import cast

import yaml

from ingestion.dates import iso_utc

_BLOCK = re.compile(
    r"\A\s*---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_DATES = ("updated_at", "last_updated", "lastmod", "ms.date", "date")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the head of a page says of it.

    Attributes:
        end: Where the page's own text begins.
        count: How many blocks there were; exporters stack a second one over the author's.
    """

    title: str
    url: str
    updated_at: str
    language: str
    end: int
    count: int


def read_front_matter(text: str) -> FrontMatter:
    """Return the front matter of a page; a page without any gives empty values and end 0."""
    fields: dict[str, object] = {}
    end = count = 0
    while match := _BLOCK.match(text[end:]):
        loaded = _load(match[1])
        if loaded is None:
            break
        fields = {**fields, **loaded}
        end += match.end()
        count += 1
    return FrontMatter(
        title=_text(fields.get("title")),
        url=_text(fields.get("source_url") or fields.get("url") or fields.get("canonical")),
        updated_at=next((iso_utc(_text(fields[name])) for name in _DATES if fields.get(name)), ""),
        language=_text(fields.get("lang") or fields.get("language"))[:2].lower(),
        end=end,
        count=count,
    )


def _load(block: str) -> dict[str, object] | None:
    """Return the mapping of one block; None when it is no front matter but a ruled-off passage."""
    if not block.strip():
        return {}
    try:
        loaded: object = yaml.safe_load(block)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return cast("dict[str, object]", loaded) if isinstance(loaded, dict) else None


def _text(value: object) -> str:
    return "" if value is None or isinstance(value, (dict, list)) else str(value).strip()
