"""The environment as a test wants it, put back afterwards."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager

_OURS = ("VOUCH_", "OPENAI_", "QDRANT_", "ALLOWED_ORIGINS", "ABSTENTION_SCORE_THRESHOLD")


@contextmanager
def environment(**variables: str) -> Generator[None]:
    """Set these variables and hide every other one that the project reads."""
    before = {name: value for name, value in os.environ.items() if name.startswith(_OURS)}
    _replace(before, variables)
    try:
        yield
    finally:
        _replace(variables, before)


def _replace(old: dict[str, str], new: dict[str, str]) -> None:
    for name in old:
        os.environ.pop(name, None)
    os.environ.update(new)
