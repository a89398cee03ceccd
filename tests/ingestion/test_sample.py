from __future__ import annotations

from pathlib import Path
from pydoc_data.topics import topics

from ingestion.chunking import ChunkRules, chunk_document
from ingestion.paths import files_under
from ingestion.sample import DOCS_SOURCE, reference_documents, topic_url
from ingestion.sources import sample_sources
from tests.ingestion.words import WordTokenizer


def test_the_reference_has_every_topic_with_an_address() -> None:
    documents = list(reference_documents())
    assert {document.document_id for document in documents} == set(topics)
    assert all(d.url.startswith("https://docs.python.org/3/") for d in documents)
    assert len({document.url for document in documents}) > 70


def test_reports_of_evaluations_are_no_part_of_the_sample() -> None:
    source = next(source for source in sample_sources() if source.name == DOCS_SOURCE)
    folder = Path(source.location)
    suffixes = frozenset({".md"})
    every = {path.relative_to(folder).as_posix() for path in files_under(folder, suffixes)}
    taken = {
        path.relative_to(folder).as_posix()
        for path in files_under(folder, suffixes, left_out=source.left_out)
    }
    assert "how-it-works.md" in taken
    assert every - taken == {name for name in every if name.startswith("evaluation/")} != set()


def test_an_unknown_topic_leads_to_the_index_of_the_reference() -> None:
    assert topic_url("assert").endswith("reference/simple_stmts.html#assert")
    assert topic_url("brand-new-topic").endswith("reference/index.html")


def test_a_special_method_is_a_section_of_its_own_or_shown_in_one() -> None:
    document = next(d for d in reference_documents() if d.document_id == "customization")
    rules = ChunkRules(target_tokens=180, overlap_tokens=40, input_limit_tokens=256)
    drafts = chunk_document(document, WordTokenizer(), rules).drafts
    hashing = next(draft for draft in drafts if "object.__hash__" in draft.section_heading)
    assert hashing.source_url.endswith("reference/datamodel.html#object.__hash__")


def test_no_text_of_a_topic_is_lost() -> None:
    rules = ChunkRules(target_tokens=180, overlap_tokens=40, input_limit_tokens=256)
    for document in reference_documents():
        shown = [False] * len(document.text)
        for draft in chunk_document(document, WordTokenizer(), rules).drafts:
            shown[draft.start : draft.start + len(draft.text)] = [True] * len(draft.text)
        missing = "".join(c for c, seen in zip(document.text, shown, strict=True) if not seen)
        headings = "".join(b.heading for b in document.blocks if b.kind == "heading")
        assert len("".join(missing.split())) <= 3 * len(headings) + 200
