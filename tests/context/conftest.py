"""Parts that the context tools' tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.tokens import Tokenizer
from tests.retrieval.fakes import real_tokenizer


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return real_tokenizer(Path(tmp_path_factory.mktemp("models")))
