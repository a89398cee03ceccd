"""Parts that the engine's tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.tokens import Tokenizer
from tests.retrieval.fakes import real_tokenizer


@pytest.fixture(scope="session")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def tokenizer(models_dir: Path) -> Tokenizer:
    return real_tokenizer(models_dir)
