"""What the audit keeps of a tool's result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import singledispatch

from pydantic import BaseModel, JsonValue

from context.contract import ContextResult, Pack
from knowledge.contracts import Measurement, SearchResult, SearchTrace, SectionPage, Source
from knowledge.packing import FittedPassages

_LONGEST_ARGUMENTS = 8_000
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Facts:
    """What the audit keeps of a result."""

    chunk_ids: tuple[str, ...] = ()
    cosines: tuple[float, ...] = ()
    build: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


@singledispatch
def facts_of(result: BaseModel) -> Facts:  # noqa: ARG001 - the case without chunks
    """Return what the audit keeps of a result; nothing for results that hold no chunks."""
    return Facts()


@facts_of.register
def _(result: SearchResult) -> Facts:
    return Facts(
        chunk_ids=tuple(hit.chunk_id for hit in result.hits),
        cosines=tuple(hit.cosine for hit in result.hits),
        build=result.index.build,
    )


@facts_of.register
def _(result: SearchTrace) -> Facts:
    return facts_of(result.result)


@facts_of.register
def _(result: Source) -> Facts:
    return Facts(chunk_ids=(result.chunk_id,), build=result.build)


@facts_of.register
def _(result: SectionPage) -> Facts:
    return Facts(build=result.index.build)


@facts_of.register
def _(result: Measurement) -> Facts:
    return Facts(
        chunk_ids=tuple(result.cosines),
        cosines=tuple(result.cosines.values()),
        build=result.index.build,
    )


@facts_of.register
def _(result: FittedPassages) -> Facts:
    return Facts(
        chunk_ids=tuple(passage.chunk_id for passage in result.passages if passage.text),
        build=result.build,
        tokens_in=result.origin_tokens,
        tokens_out=result.tokens,
    )


@facts_of.register
def _(result: ContextResult) -> Facts:
    spent = result.budget
    return (
        Facts() if spent is None else Facts(tokens_in=spent.tokens_in, tokens_out=spent.tokens_out)
    )


@facts_of.register
def _(result: Pack) -> Facts:
    spent = result.budget
    return Facts(
        chunk_ids=tuple(passage.chunk_id for passage in result.passages),
        cosines=tuple(passage.cosine for passage in result.passages),
        build=result.build,
        tokens_in=spent.tokens_in if spent else 0,
        tokens_out=spent.tokens_out if spent else 0,
    )


def storable_name(name: str) -> str:
    """Return a tool's name as asked for, fit for a log line and a database."""
    return _clean(name[:_LONGEST_NAME])


def storable_arguments(arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return a call's arguments, fit for a log line and a database.

    Databases refuse the null character and halves of surrogate pairs, which JSON can carry; and an
    argument may be as long as a request body. A call is recorded whatever its arguments were.
    """
    text = json.dumps(dict(arguments), ensure_ascii=False)
    if len(text) > _LONGEST_ARGUMENTS:
        return {"cut": _clean(text[:_LONGEST_ARGUMENTS]), "characters": len(text)}
    cleaned = _clean(text.replace("\\u0000", "\ufffd"))
    restored: dict[str, JsonValue] = json.loads(cleaned)
    return restored


def _clean(text: str) -> str:
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
