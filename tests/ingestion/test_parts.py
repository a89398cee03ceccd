"""Parts of passages: what is embedded a few sentences at a time, and what words weigh there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.chunking import ChunkRules, chunk_document
from ingestion.dedup import deduplicate
from ingestion.drafts import Draft
from ingestion.part_weights import PartWeights, mean_with_best
from ingestion.parts import PartRules
from ingestion.passage_vectors import put_together, texts_to_embed
from ingestion.records import DocumentRecord
from retrieval.chunk import Chunk, SparseVector
from retrieval.sparse import Bm25Encoder
from tests.ingestion.fakes import HashEmbedder
from tests.ingestion.words import WordTokenizer, markdown
from tests.retrieval.corpus import chunk

TOKENIZER = WordTokenizer()
RULES = ChunkRules(
    target_tokens=60, overlap_tokens=10, input_limit_tokens=160, parts=PartRules(20, 7)
)
CODE = "```\n" + "\n".join(f"value_{n} = compute({n}) + {n}" for n in range(5)) + "\n```\n"


def cut(text: str, rules: ChunkRules = RULES, name: str = "page.md") -> tuple[Draft, ...]:
    return chunk_document(markdown(text, name), TOKENIZER, rules).drafts


def sentences(count: int) -> str:
    return " ".join(f"Sentence number {n} is here." for n in range(count))


def test_a_short_passage_is_its_only_part() -> None:
    assert [draft.parts for draft in cut("# Guide\n\nOne sentence. And another.\n")] == [()]


def test_parts_have_the_header_cover_the_passage_and_overlap() -> None:
    (draft,) = cut(f"# Guide\n\n## Setup\n\n{sentences(9)}\n")
    header, _, body = draft.text_for_embedding.partition("\n")
    assert len(draft.parts) == 4
    assert all(part.startswith(f"{header}\n") for part in draft.parts)
    bodies = [part.removeprefix(f"{header}\n") for part in draft.parts]
    assert all(TOKENIZER.count(each) <= 20 for each in bodies)
    assert all(sentence in " ".join(bodies) for sentence in body.split(". "))
    assert bodies[1].startswith("Sentence number 2")
    assert bodies[0].endswith("Sentence number 2 is here.")


def test_a_block_of_code_is_parted_at_its_lines() -> None:
    (draft,) = cut(f"# Guide\n\n{CODE}")
    assert len(draft.parts) > 1
    lines = [line for part in draft.parts for line in part.split("\n")]
    assert all(f"value_{n} = compute({n}) + {n}" in lines for n in range(5))


def test_without_rules_there_are_no_parts() -> None:
    drafts = cut(f"# Guide\n\n{sentences(12)}\n", replace(RULES, parts=None))
    assert all(draft.parts == () for draft in drafts)
    assert (RULES.parts_name, replace(RULES, parts=None).parts_name) == ("windows-1(20/7)", "")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from(["# A", "", "Words here. ", "x" * 200, "| a | b |", "|---|---|", "- c d."])
    )
)
def test_no_part_is_longer_than_what_the_model_reads(lines: list[str]) -> None:
    rules = replace(RULES, input_limit_tokens=110)
    for draft in cut("start\n" + "\n".join(lines), rules):
        assert len(draft.parts) != 1
        assert all(TOKENIZER.count(part) <= 110 for part in draft.parts)


def test_a_file_of_program_text_is_cut_smaller() -> None:
    text = "def first():\n" + "\n".join(f"    value = {n} + {n}" for n in range(12))
    rules = replace(RULES, parts=None, code_tokens=30)
    assert len(cut(text, rules, "file.py")) > len(
        cut(text, replace(rules, code_tokens=0), "file.py")
    )
    prose = f"# Guide\n\n{sentences(9)}\n"
    assert cut(prose, rules) == cut(prose, replace(rules, code_tokens=0))


def test_vectors_come_back_to_the_passages_they_were_made_of() -> None:
    embedder = HashEmbedder()
    one = replace(chunk("one", "A. B."), parts=("h\nA.", "h\nB."))
    two = chunk("two", "C.")
    texts = texts_to_embed([one, two])
    assert texts == ["Guide > Intro\nA. B.", "h\nA.", "h\nB.", "Guide > Intro\nC."]
    (_, first), (_, second) = put_together([one, two], embedder.embed_passages(texts))
    assert first.parts is not None
    assert first.parts[1] == pytest.approx(embedder.embed_query("h\nB."))
    assert second.dense == pytest.approx(embedder.embed_query(texts[3]))
    assert second.parts is None


def test_a_text_in_two_places_has_the_parts_of_its_first() -> None:
    drafts = cut(f"# Guide\n\n{sentences(9)}\n")
    records = [
        DocumentRecord(
            source=source, document_id="a", title=source, url="", digest="d", chunking="c",
            drafts=tuple(
                draft.model_copy(update={"parts": (f"{source} 1", f"{source} 2")})
                for draft in drafts
            ),
        )
        for source in ("alpha", "beta")
    ]  # fmt: skip
    assert [made.parts for made in deduplicate(records).chunks] == [("alpha 1", "alpha 2")]


def test_a_word_weighs_the_mean_of_the_whole_and_its_best_part() -> None:
    whole = SparseVector((1, 2), (0.4, 0.6))
    parts = [SparseVector((1,), (1.0,)), SparseVector((1, 3), (0.8, 0.2))]
    made = mean_with_best(whole, parts)
    assert dict(zip(made.indices, made.values, strict=True)) == pytest.approx(
        {1: 0.7, 2: 0.3, 3: 0.1}
    )


def test_a_word_of_one_sentence_gains_in_a_long_passage() -> None:
    encoder = Bm25Encoder()
    text = f"The gateway answers. {sentences(30)}"
    long = replace(chunk("long", text), parts=("The gateway answers.", sentences(30)))
    short = chunk("short", "Another answer.")
    (term,) = encoder.embed_query("gateway").indices

    def weight(chunks: list[Chunk]) -> float:
        made = PartWeights.fitted(encoder, chunks).embed(chunks[0])
        return dict(zip(made.indices, made.values, strict=True))[term]

    plain = weight([replace(long, parts=()), short])
    assert plain < weight([long, short]) <= encoder.saturation
