"""Exact duplicates: one text, embedded and stored once, with every place where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ingestion.drafts import Draft, chunk_id, content_key
from ingestion.records import DocumentRecord
from retrieval.chunk import Chunk, Occurrence


@dataclass(frozen=True, slots=True)
class Deduplicated:
    """The chunks of a whole build.

    Attributes:
        chunks: One per distinct text, in the order of their first places.
        duplicates: Places beyond the first, over all chunks.
        by_document: Duplicates of each (source, document).
    """

    chunks: tuple[Chunk, ...]
    duplicates: int
    by_document: dict[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class _Place:
    record: DocumentRecord
    draft: Draft


def deduplicate(records: Iterable[DocumentRecord]) -> Deduplicated:
    """Merge equal texts over all documents.

    The place that gives a text its header, id and metadata is the first public one in the order of
    source, document and position: the result depends on what is in the build, never on the order
    in which it came.
    """
    ordered = sorted(records, key=lambda r: (bool(r.labels), r.source, r.document_id))
    places: dict[str, list[_Place]] = {}
    for record in ordered:
        for draft in record.drafts:
            places.setdefault(content_key(draft.text), []).append(_Place(record, draft))
    ids = {
        key: chunk_id(group[0].record.source, group[0].draft.path, group[0].draft.text)
        for key, group in places.items()
    }
    neighbours = _neighbours(ordered, ids)
    by_document: dict[tuple[str, str], int] = {}
    for group in places.values():
        for place in group[1:]:
            at = (place.record.source, place.record.document_id)
            by_document[at] = by_document.get(at, 0) + 1
    return Deduplicated(
        chunks=tuple(_chunk(ids[key], group, neighbours) for key, group in places.items()),
        duplicates=sum(by_document.values()),
        by_document=by_document,
    )


_Neighbours = dict[tuple[str, str, int], tuple[str | None, str | None]]


def _neighbours(records: Sequence[DocumentRecord], ids: dict[str, str]) -> _Neighbours:
    found: _Neighbours = {}
    for record in records:
        order = [ids[content_key(draft.text)] for draft in record.drafts]
        for at, draft in enumerate(record.drafts):
            found[record.source, record.document_id, draft.position] = (
                order[at - 1] if at else None,
                order[at + 1] if at + 1 < len(order) else None,
            )
    return found


def _chunk(identity: str, places: Sequence[_Place], neighbours: _Neighbours) -> Chunk:
    first = places[0]
    return Chunk(
        chunk_id=identity,
        text=first.draft.text,
        text_for_embedding=first.draft.text_for_embedding,
        occurrences=tuple(_occurrence(place, neighbours) for place in places),
        language=first.record.language,
        updated_at=first.record.updated_at,
        metadata=dict(first.draft.metadata),
        parts=first.draft.parts,
    )


def _occurrence(place: _Place, neighbours: _Neighbours) -> Occurrence:
    record, draft = place.record, place.draft
    occurrence = Occurrence(
        source=record.source,
        document_id=record.document_id,
        source_url=draft.source_url,
        title=record.title,
        section_heading=draft.section_heading,
        parent_heading=draft.parent_heading,
        position=draft.position,
        labels=record.labels,
    )
    before, after = neighbours[record.source, record.document_id, draft.position]
    return replace(occurrence, previous_chunk_id=before, next_chunk_id=after)
