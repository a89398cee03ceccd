from __future__ import annotations

import pytest
from pydantic import ValidationError

from storage.job_orders import OrderedSource
from storage.source_names import check_source_name


@pytest.mark.parametrize("name", ["docs", "guide/a.md", "Büro 2", "文档", ".hidden", "a..b", ""])
def test_a_name_that_can_be_typed_again_is_kept(name: str) -> None:
    assert check_source_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        " docs", "docs ", "do\ncs", "do\x00cs", "\u202egnp.exe", "a\u200bb", "..", "a/../b", "./a",
        "a\u2028b", "x" * 201, "\ud800",
    ],
)  # fmt: skip
def test_a_name_that_hides_something_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="source's name"):
        check_source_name(name)
    with pytest.raises(ValidationError):
        OrderedSource(name=name, kind="path")
