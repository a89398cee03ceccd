from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from retrieval.errors import IndexUnavailableError
from retrieval.vectors import VectorCache, vector_key
from tests.retrieval.corpus import vector


def test_vectors_survive_closing_the_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "vectors.db"
    many = {vector_key("model", "", f"text {n}"): vector(n) for n in range(1200)}
    cache = VectorCache(path)
    cache.put_many(many)
    cache.close()
    again = VectorCache(path)
    found = again.get_many([*many, vector_key("model", "", "unknown")])
    assert again.count() == len(found) == 1200
    for key, expected in many.items():
        np.testing.assert_array_equal(found[key], expected)
    again.close()


def test_two_connections_share_one_file(tmp_path: Path) -> None:
    first, second = VectorCache(tmp_path / "v.db"), VectorCache(tmp_path / "v.db")
    key = vector_key("model", "", "text")
    first.put_many({key: vector(1)})
    second.put_many({key: vector(2)})
    np.testing.assert_array_equal(second.get_many([key])[key], vector(1))
    first.close()
    second.close()


def test_key_tells_model_prefix_and_text_apart() -> None:
    keys = {
        vector_key("m", "", "text"),
        vector_key("n", "", "text"),
        vector_key("m", "query: ", "text"),
        vector_key("m", "", "text "),
    }
    assert len(keys) == 4


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(IndexUnavailableError, match=r"vectors\.db"):
        VectorCache(path)
