"""Which names sources may have: they are shown, filtered by, logged and put into paths."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from pydantic import AfterValidator

_MOST_CHARACTERS = 200
# Control and format characters hide or turn what is shown; line ends break logs and headers.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def check_source_name(name: str) -> str:
    """Return a name that can be shown and typed again; empty stays empty.

    Raises:
        ValueError: It cannot; says why.
    """
    if len(name) > _MOST_CHARACTERS:
        raise ValueError(f"a source's name has at most {_MOST_CHARACTERS} characters")
    if any(unicodedata.category(character) in _HIDDEN for character in name):
        raise ValueError("a source's name has no invisible characters and no line ends")
    if name != name.strip():
        raise ValueError("a source's name does not begin or end with a space")
    if any(part in {".", ".."} for part in name.split("/")):
        raise ValueError("a source's name has no part that is . or ..")
    return name


SourceNameText = Annotated[str, AfterValidator(check_source_name)]
