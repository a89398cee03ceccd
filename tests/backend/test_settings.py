"""From environment variables to settings."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import ValidationError

from backend.settings import ApiSettings

ROOT = Path(__file__).resolve().parents[2]


def start_api(environment: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "backend"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "environment",
    [
        {"QDRANT_API_KEY": "secret"},
        {"QDRANT_URL": "https://key@qdrant.example"},
        {"QDRANT_URL": "http://127.0.0.1:6333"},
    ],
)
def test_an_api_with_a_way_to_the_index_refuses_to_start(
    environment: dict[str, str], tmp_path: Path
) -> None:
    finished = start_api({"VOUCH_SIGNING_KEY": "0123456789abcdef", **environment}, tmp_path)
    assert finished.returncode == 2
    assert "no way to the index" in finished.stderr
    assert "secret" not in finished.stderr
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, "VOUCH_SIGNING_KEY"),
        ({"ALLOWED_ORIGINS": "*"}, "ALLOWED_ORIGINS"),
        ({"VOUCH_PORT": "eighty"}, "port"),
        ({"VOUCH_SIGNING_KEY": "0123456789abcdef"}, "vouch migrate"),
    ],
)
def test_a_bad_setting_ends_the_start_with_one_sentence(
    environment: dict[str, str], said: str, tmp_path: Path
) -> None:
    finished = start_api(environment, tmp_path)
    assert finished.returncode == 2
    assert said in finished.stderr
    assert "Traceback" not in finished.stderr


def test_origins_are_split_and_trimmed_and_empty_means_none() -> None:
    read = ApiSettings.model_validate
    assert read(
        {"allowed_origins": " https://a.example , http://b.example:81 ,"}
    ).allowed_origins == (
        "https://a.example",
        "http://b.example:81",
    )
    assert read({"allowed_origins": ""}).allowed_origins == ()
    assert ApiSettings().allowed_origins == ()


@pytest.mark.parametrize("origins", ["*", "https://*.example", "a.example", "https://a.example/x"])
def test_an_origin_that_is_not_one_is_refused(origins: str) -> None:
    with pytest.raises(ValidationError):
        ApiSettings.model_validate({"allowed_origins": origins})


@pytest.mark.parametrize(
    "bad",
    [
        {"abstention_score_threshold": 1.5},
        {"request_timeout_seconds": 0},
        {"max_running_asks": 0},
        {"shadow_share": 2},
        {"abstention_sentence": ""},
    ],
)
def test_numbers_out_of_bounds_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ApiSettings.model_validate(bad)
