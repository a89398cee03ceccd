from __future__ import annotations

from ingestion.dedup import deduplicate
from ingestion.drafts import Draft, chunk_id
from ingestion.records import DocumentRecord


def record(source: str, document: str, *texts: str, labels: tuple[str, ...] = ()) -> DocumentRecord:
    drafts = tuple(
        Draft(
            position=at,
            start=0,
            text=text,
            text_for_embedding=f"{document}\n{text}",
            path=(document,),
            section_heading=document,
            parent_heading="",
            source_url=f"https://{source}.example/{document}",
        )
        for at, text in enumerate(texts)
    )
    return DocumentRecord(
        source=source,
        document_id=document,
        title=document,
        url="",
        digest="",
        chunking="",
        labels=labels,
        drafts=drafts,
    )


def test_a_text_in_two_sources_is_stored_once_with_both_places() -> None:
    result = deduplicate([record("b", "two", "Same  text."), record("a", "one", "Same text.")])
    assert len(result.chunks) == 1
    assert [place.source for place in result.chunks[0].occurrences] == ["a", "b"]
    assert result.duplicates == 1
    assert result.by_document == {("b", "two"): 1}


def test_the_order_of_documents_changes_nothing() -> None:
    records = [record(s, f"d{n}", f"text {n}", "shared") for s in "abc" for n in range(4)]
    assert (
        deduplicate(records) == deduplicate(records[::-1]) == deduplicate(records[5:] + records[:5])
    )


def test_a_public_place_gives_a_shared_text_its_header() -> None:
    secret = record("a", "internal plans", "Shared.", labels=("staff",))
    public = record("z", "manual", "Shared.")
    chunk = deduplicate([secret, public]).chunks[0]
    assert chunk.text_for_embedding.startswith("manual")
    assert chunk.chunk_id == chunk_id("z", ("manual",), "Shared.")


def test_neighbours_are_those_of_each_place() -> None:
    result = deduplicate([record("a", "one", "x", "y", "z"), record("b", "two", "q", "y")])
    ids = {chunk.text: chunk.chunk_id for chunk in result.chunks}
    shared = next(chunk for chunk in result.chunks if chunk.text == "y")
    first, second = shared.occurrences
    assert (first.previous_chunk_id, first.next_chunk_id) == (ids["x"], ids["z"])
    assert (second.previous_chunk_id, second.next_chunk_id) == (ids["q"], None)


def test_case_is_part_of_a_text() -> None:
    assert len(deduplicate([record("a", "one", "None", "none")]).chunks) == 2
