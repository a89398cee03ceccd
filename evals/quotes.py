"""Does a passage hold a labelled quote? Line breaks and typographic quote marks do not matter.

Labels by quote survive another version of the text, another chunker and a text that stands in
several places: whoever shows the quoted words has shown the evidence.
"""

from __future__ import annotations

import re

_TYPOGRAPHIC = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'"})
_SPACE = re.compile(r"\s+")


def normalise(text: str) -> str:
    """Collapse white space and make quote marks plain."""
    return _SPACE.sub(" ", text.translate(_TYPOGRAPHIC)).strip()


def holds(passage: str, quote: str) -> bool:
    """Return whether the passage contains the quote after normalisation."""
    return normalise(quote) in normalise(passage)
