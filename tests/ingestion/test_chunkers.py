from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.chunkers import ChunkerName, make_chunker
from ingestion.composition import open_chunker
from ingestion.drafts import Draft
from ingestion.rules import Chunker
from ingestion.settings import IngestionSettings
from tests.ingestion.fakes import HashEmbedder, TopicEmbedder
from tests.ingestion.words import WordTokenizer, markdown

NAMES: tuple[ChunkerName, ...] = get_args(ChunkerName)
COUNT = WordTokenizer().count


def cut(name: ChunkerName, text: str, *, target: int = 40, overlap: int = 10) -> tuple[Draft, ...]:
    return chunker(name, target, overlap).chunk(markdown(text)).drafts


def chunker(name: ChunkerName, target: int = 40, overlap: int = 10) -> Chunker:
    return make_chunker(
        name,
        TopicEmbedder(),
        input_limit_tokens=100,
        target_tokens=target,
        overlap_tokens=overlap,
    )


def sentences(count: int, word: str = "word") -> str:
    return " ".join(f"{word.capitalize()} number {at} is here." for at in range(count))


@pytest.mark.parametrize("name", NAMES)
def test_every_chunker_keeps_to_the_limit_and_shows_slices(name: ChunkerName) -> None:
    text = f"# Guide\n\n{sentences(60)}\n\n```py\n# code\nx = 1\n```\n\n## More\n\n{sentences(9)}\n"
    drafts = cut(name, text)
    assert len(drafts) > 5
    for draft in drafts:
        assert draft.text in text
        assert COUNT(draft.text_for_embedding) <= 96
        assert draft.section_heading in {"Guide", "More"}
    assert sum("# code\nx = 1" in draft.text for draft in drafts) == 1


@pytest.mark.parametrize("name", ["sentence", "recursive"])
def test_chunks_without_regard_to_sections_end_at_sentences(name: ChunkerName) -> None:
    drafts = cut(name, f"# Guide\n\n{sentences(60)}\n")
    assert all(draft.text.endswith(".") for draft in drafts)


def test_recursive_chunks_prefer_paragraphs() -> None:
    paragraphs = "\n\n".join(sentences(4, word) for word in ("one", "two", "three", "four"))
    drafts = cut("recursive", f"# Guide\n\n{paragraphs}\n", target=25, overlap=0)
    bodies = [draft.text.removeprefix("# Guide\n\n").strip() for draft in drafts]
    assert [body.split()[0] for body in bodies if not body.startswith("#")] == [
        "One",
        "Two",
        "Three",
        "Four",
    ]


def test_semantic_chunks_break_where_the_subject_changes() -> None:
    text = f"# Guide\n\n{sentences(4, 'cats')}\n\n{sentences(4, 'engines')}\n"
    drafts = cut("semantic", text, target=90, overlap=0)
    assert len(drafts) == 2
    assert "Engines" not in drafts[0].text
    assert "Cats" not in drafts[1].text


def test_sizes_are_the_chunkers_own_unless_given() -> None:
    names = [make_chunker(name, HashEmbedder(), input_limit_tokens=8192).name for name in NAMES]
    assert names == [
        "structural-2(350/50)",
        "sentence-1(1024/200)",
        "semantic-1(1024/0)",
        "recursive-1(512/50)",
    ]
    small = make_chunker("structural", HashEmbedder(), input_limit_tokens=256)
    assert small.name == "structural-2(180/40, code 150)"
    given = make_chunker("structural", HashEmbedder(), input_limit_tokens=256, target_tokens=90)
    assert given.name == "structural-2(90/40)"


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(NAMES),
    st.lists(st.sampled_from(["# A", "", "Words. ", "x" * 200, "| a |", "|---|", "```", "- b c."])),
)
def test_no_chunker_fails_on_any_arrangement(name: ChunkerName, lines: list[str]) -> None:
    for draft in cut(name, "start\n" + "\n".join(lines), target=15, overlap=4):
        assert COUNT(draft.text_for_embedding) <= 96


def test_settings_win_over_the_profile_and_the_profile_over_the_default(tmp_path: Path) -> None:
    profiles = tmp_path / "profiles.yaml"
    profiles.write_text(
        "small:\n  summary: Short.\n  ingestion:\n    chunker:\n      name: sentence\n"
        "      target_tokens: 60\n      overlap_tokens: 6\n"
    )

    def opened(**values: object) -> str:
        settings = IngestionSettings.model_validate(
            {"profile": "small", "profiles_file": profiles, **values}
        )
        return open_chunker(settings, HashEmbedder()).name

    assert opened() == "sentence-1(60/6)"
    assert opened(chunker="recursive", chunk_target_tokens=50) == "recursive-1(50/6)"
    assert opened(chunk_overlap_tokens=0) == "sentence-1(60/0)"
