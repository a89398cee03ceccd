from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.errors import BadRequestError
from retrieval.models import DEFAULT_MODEL
from retrieval.opening import has_same_models
from retrieval.profiles import load_profiles, profile_named
from service.errors import SettingsError


def _written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "profiles.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_packaged_profiles_are_valid_and_say_what_they_are_for() -> None:
    profiles = load_profiles(None, {})
    assert {"default", "quality", "late-interaction", "server-1024"} <= profiles.keys()
    assert {"pdf_fast", "pdf_semantic"} <= profiles.keys()
    assert all(len(profile.summary) > 40 for profile in profiles.values())
    assert profiles["default"].ingestion.embedder.model == DEFAULT_MODEL
    assert profiles["default"].search.fusion == "zscore"


def test_the_server_profile_is_as_documented() -> None:
    profile = load_profiles(None, {})["server-1024"]
    assert profile.ingestion.embedder.model == "Qwen/Qwen3-Embedding-0.6B"
    assert profile.ingestion.sparse.model == "prithivida/Splade_PP_en_v1"
    assert profile.ingestion.late_interaction is not None
    assert profile.ingestion.late_interaction.model == "colbert-ir/colbertv2.0"
    assert profile.ingestion.late_interaction.dimension == 128
    search = profile.search
    assert (search.candidates, search.dense_floor_cosine, search.sparse_floor) == (20, 0.5, 5.0)
    assert search.reranker is not None
    assert search.reranker.model == "BAAI/bge-reranker-base"


def test_variables_are_taken_from_the_environment_or_their_default(tmp_path: Path) -> None:
    path = _written(
        tmp_path,
        "mine:\n  summary: Mine.\n  search:\n    candidates: ${MOST:-20}\n"
        "    fusion: ${FUSION:-rrf}\n",
    )
    assert load_profiles(path, {})["mine"].search.candidates == 20
    search = load_profiles(path, {"MOST": "7", "FUSION": "zscore"})["mine"].search
    assert (search.candidates, search.fusion) == (7, "zscore")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("mine:\n  summary: x\n  search:\n    candidates: 0\n", "mine: search.candidates"),
        ("mine:\n  summary: x\n  search:\n    colour: red\n", "mine: search.colour"),
        ("mine:\n  summary: x\n  search:\n    fusion: sum\n", "mine: search.fusion"),
        ("mine:\n  search: {}\n", "mine: summary"),
        ("mine:\n  summary: ${ABSENT}\n", "ABSENT is not set"),
        ("mine: 3\n", "mine"),
        ("- a\n- b\n", "must map names to profiles"),
        ("a: [1\n", "cannot be read"),
        ("", "must map names"),
    ],
)
def test_an_error_names_its_place(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        load_profiles(_written(tmp_path, text), {})


def test_an_absent_file_and_an_unknown_name_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load_profiles(tmp_path / "absent.yaml", {})
    with pytest.raises(BadRequestError, match="known are default"):
        profile_named(load_profiles(None, {}), "absent")


def test_a_value_from_the_environment_cannot_add_structure(tmp_path: Path) -> None:
    path = _written(tmp_path, "mine:\n  summary: ${TEXT:-x}\n")
    hostile = "x\nother:\n  summary: y"
    assert load_profiles(path, {"TEXT": hostile})["mine"].summary == hostile


def test_a_build_is_searched_only_with_profiles_of_its_models() -> None:
    profiles = load_profiles(None, {})
    default = profiles["default"].ingestion
    assert has_same_models(profiles["quality"].ingestion, default)
    assert not has_same_models(profiles["server-1024"].ingestion, default)
    assert not has_same_models(profiles["late-interaction"].ingestion, default)
    assert has_same_models(default, profiles["late-interaction"].ingestion)
