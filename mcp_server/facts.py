"""What the audit keeps of a tool's result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

from pydantic import BaseModel

from knowledge.contracts import Measurement, SearchResult, SearchTrace, SectionPage, Source


@dataclass(frozen=True, slots=True)
class Facts:
    """What the audit keeps of a result."""

    chunk_ids: tuple[str, ...] = ()
    cosines: tuple[float, ...] = ()
    build: str = ""


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
