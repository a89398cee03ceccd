from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.chunking import ChunkRules, chunk_document
from ingestion.drafts import Draft
from tests.ingestion.words import WordTokenizer, markdown

TOKENIZER = WordTokenizer()


def cut(text: str, *, target: int = 40, overlap: int = 10, limit: int = 100) -> tuple[Draft, ...]:
    rules = ChunkRules(target_tokens=target, overlap_tokens=overlap, input_limit_tokens=limit)
    return chunk_document(markdown(text), TOKENIZER, rules).drafts


def sentences(count: int, word: str = "word") -> str:
    return " ".join(f"{word.capitalize()} number {at} is here." for at in range(count))


def test_small_sibling_sections_share_a_chunk_and_keep_their_headings() -> None:
    drafts = cut("# Guide\n\n## One\n\nFirst.\n\n## Two\n\nSecond.\n\n## Three\n\nThird.\n")
    assert len(drafts) == 1
    assert "## Two" in drafts[0].text
    assert "Third." in drafts[0].text


def test_a_large_section_is_split_at_sentence_ends_with_overlap() -> None:
    drafts = cut(f"# Guide\n\n{sentences(30)}\n")
    assert len(drafts) > 3
    assert all(draft.text.endswith(".") for draft in drafts)
    for before, after in pairwise(drafts):
        first_sentence = after.text.split(". ")[0]
        assert first_sentence in before.text


def test_a_section_above_does_not_take_in_one_of_a_higher_level() -> None:
    drafts = cut("# A\n\n### Deep\n\nBelow A.\n\n# B\n\nIn B.\n", target=60)
    assert [draft.section_heading for draft in drafts] == ["Deep", "B"]
    assert drafts[0].parent_heading == "A"


def test_a_heading_alone_is_merged_forward() -> None:
    drafts = cut(f"# Guide\n\n## Parent\n\n## Child\n\n{sentences(4)}\n")
    assert len(drafts) == 1
    assert drafts[0].section_heading == "Child"
    assert "## Parent" in drafts[0].text


def test_a_document_of_headings_only_still_has_a_chunk() -> None:
    drafts = cut("# Guide\n\n## Nothing here yet\n")
    assert len(drafts) == 1
    assert "Nothing here yet" in drafts[0].text


def test_a_heading_and_its_bullets_are_embedded_with_the_headings_words() -> None:
    bullets = "\n".join(f"- Option {at} does something useful." for at in range(20))
    drafts = cut(f"# Guide\n\n## Frobnication flags\n\n{bullets}\n")
    assert len(drafts) > 1
    assert all("Frobnication flags" in draft.text_for_embedding for draft in drafts)


def test_a_code_block_that_fits_is_never_cut() -> None:
    code = "```python\n# not a heading\n" + "\n".join(f"x{at} = {at}" for at in range(9)) + "\n```"
    drafts = cut(f"# Guide\n\n{sentences(6)}\n\n{code}\n\n{sentences(6)}\n")
    assert sum(code in draft.text for draft in drafts) == 1
    assert all(draft.section_heading == "Guide" for draft in drafts)


def test_a_code_block_longer_than_a_chunk_is_cut_at_line_ends() -> None:
    lines = [f"value_{at} = call({at})" for at in range(30)]
    drafts = cut("# Guide\n\n```python\n" + "\n".join(lines) + "\n```\n")
    shown = "\n".join(draft.text for draft in drafts).split("\n")
    assert [line for line in shown if line.startswith("value_")] == lines


def test_a_long_table_repeats_its_header_row_and_keeps_its_section() -> None:
    rows = "\n".join(f"| Plan {at} | {at * 10} |" for at in range(20))
    drafts = cut(f"# Prices\n\n## Monthly\n\n| Name | Euros |\n|---|---|\n{rows}\n")
    assert len(drafts) > 2
    assert all("| Name | Euros |" in draft.text_for_embedding for draft in drafts)
    assert sum("| Name | Euros |" in draft.text for draft in drafts) == 1
    assert {draft.section_heading for draft in drafts} == {"Monthly"}


def test_a_citation_address_leads_to_the_section() -> None:
    drafts = cut(f"# Guide\n\n{sentences(6)}\n\n## Set it up\n\n{sentences(6)}\n")
    assert drafts[-1].source_url == "https://docs.example/page#set-it-up"


def test_the_header_is_embedded_and_not_shown() -> None:
    draft = cut(f"# Guide\n\n## Setup\n\n{sentences(4)}\n")[0]
    assert draft.text_for_embedding.startswith("Guide > Setup\n")
    assert draft.text.startswith("Word number 0")


def test_a_long_title_gives_way_before_the_body_does() -> None:
    title = "A very long title " * 30
    drafts = cut(f"# {title}\n\n## Setup\n\n{sentences(20)}\n")
    assert all(TOKENIZER.count(draft.text_for_embedding) <= 96 for draft in drafts)
    assert all("Setup" in draft.text_for_embedding.split("\n")[0] for draft in drafts)


def test_repeated_lines_are_embedded_once_and_shown_as_they_stand() -> None:
    line = "The maximum upload size is ten megabytes."
    drafts = cut(f"# Guide\n\n{line}\n\nOther words stand here.\n\n{line}\n\nThe end is near.\n")
    assert drafts[0].text_for_embedding.count(line) == 1
    assert drafts[0].text.count(line) == 2


def test_the_same_input_gives_the_same_drafts() -> None:
    text = f"# Guide\n\n{sentences(30)}\n\n## More\n\n{sentences(12, 'other')}\n"
    assert cut(text) == cut(text)


_LINE = st.one_of(
    st.text(alphabet="abc dé.!?`*_|#-\t漢字", max_size=120),
    st.sampled_from(
        ["# Title", "## Part", "```", "| a | b |", "|---|---|", "- item", "> note", "", "x" * 300]
    ),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_LINE, min_size=1, max_size=60))
def test_every_chunk_is_a_slice_of_its_document_and_fits_the_model(lines: list[str]) -> None:
    document = markdown("anchor word\n" + "\n".join(lines))
    rules = ChunkRules(target_tokens=20, overlap_tokens=5, input_limit_tokens=64)
    for position, draft in enumerate(chunk_document(document, TOKENIZER, rules).drafts):
        assert document.text[draft.start : draft.start + len(draft.text)] == draft.text
        assert TOKENIZER.count(draft.text_for_embedding) <= 60
        assert draft.position == position
