from __future__ import annotations

import pytest

from ingestion.chunkers import make_chunker
from ingestion.header import build_header, with_context
from retrieval.embedding import DenseEmbedder
from retrieval.opening import open_embedder
from retrieval.settings import RetrievalSettings
from tests.ingestion.words import WordTokenizer, markdown

COUNT = WordTokenizer().count
RECIPE = (
    "Boil the pasta in salted water for nine minutes, drain it, and stir in the tomatoes and the "
    "basil. Serve with grated cheese and a little oil. Leftovers keep for two days in a cold "
    "place. A glass of red wine goes well with it, and so does a green salad with lemon and "
    "pepper. For four people take a pound of pasta, six ripe tomatoes, a handful of basil leaves "
    "and two ounces of cheese. Children like it with butter instead of oil, and without the "
    "pepper. In winter, tinned tomatoes are better than those from a greenhouse."
)


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> DenseEmbedder:
    return open_embedder(RetrievalSettings(data_dir=tmp_path_factory.mktemp("models")))


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("API rate limits", "What are the API rate limits?"),
        ("The assert statement", "What happens when an assert statement fails?"),
        ("Request timeout", "How do I set the request timeout?"),
        ("Python installation guide", "How do I install Python on Windows?"),
    ],
)
def test_a_title_does_not_lift_an_unrelated_passage_over_the_threshold(
    embedder: DenseEmbedder, title: str, question: str
) -> None:
    spec = embedder.spec
    chunker = make_chunker("structural", embedder, input_limit_tokens=spec.input_limit_tokens)
    (draft,) = chunker.chunk(markdown(f"# {title}\n\n{RECIPE}\n")).drafts
    assert draft.text_for_embedding.startswith(title)
    cosine = float(
        embedder.embed_passages([draft.text_for_embedding])[0] @ embedder.embed_query(question)
    )
    assert cosine < spec.default_threshold_cosine


def test_the_header_names_document_path_and_heading_once() -> None:
    header = build_header("Guide", ["Guide", "Setup", "Linux"], limit_tokens=50, count=COUNT)
    assert header == "Guide > Setup > Linux"


def test_a_header_that_is_too_long_loses_its_middle_first() -> None:
    path = ["Part one of many", "Chapter two", "Linux"]
    assert build_header("Guide", path, limit_tokens=5, count=COUNT) == "Guide > Linux"
    assert build_header("A long title", path, limit_tokens=2, count=COUNT) == "Linux"
    assert build_header("A long title", path, limit_tokens=0, count=COUNT) == ""


def test_context_follows_the_header_as_far_as_it_fits() -> None:
    assert with_context("a > b", "x y", limit_tokens=10, count=COUNT) == "a > b\nx y"
    shortened = with_context("a > b", "c d e f g h i j", limit_tokens=6, count=COUNT)
    assert shortened == "a > b\nc d e"
    assert with_context("a > b", "", limit_tokens=10, count=COUNT) == "a > b"
