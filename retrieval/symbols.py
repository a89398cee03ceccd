"""Operators and marked names as words, so that they can be searched for.

A tokenizer of words drops ``^`` and cannot tell ``__del__`` from ``del``. Both get a word of their
own, in passages and in queries alike. A sign that has one common name is found by it too: "the
caret operator" finds ``^``. Signs that mostly mark up (``*``, ``|``, ``#``, ``-``) are left alone.
"""

from __future__ import annotations

import re

_SIGNS = {
    "^": "caret",
    "@": "at",
    "%": "percent",
    "~": "tilde",
    "&": "ampersand",
    "<<": "shiftleft",
    ">>": "shiftright",
    ":=": "walrus",
    "//": "floor",
    "+=": "augmented",
    "!r": "conversionr",
    "!s": "conversions",
    "!a": "conversiona",
}
_NAMES = ("caret", "tilde", "ampersand", "walrus", "percent")
_OPERATOR = r"\^@*%~&|<>=!+\-/:."
_WORTH_NAMING = re.compile(
    rf"(?<![{_OPERATOR}])"
    rf"(?P<sign>{'|'.join(map(re.escape, sorted(_SIGNS, key=len, reverse=True)))})"
    rf"(?![{_OPERATOR}])(?!#?\w{{1,8}};)"  # &amp; is markup
    rf"|\b(?P<name>(?i:{'|'.join(_NAMES)}))\b"
    r"|\b__(?P<marked>[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*)__"
)


def name_symbols(text: str) -> str:
    """Return the text with operators and the names of signs as words, and marked names named.

    ``x ^ y`` becomes ``x signcaret y``, and so does ``x caret y``; ``__del__`` gains
    ``markeddel``.
    """
    return _WORTH_NAMING.sub(_named, text)


def _named(match: re.Match[str]) -> str:
    if sign := match["sign"]:
        return f" sign{_SIGNS[sign]} "
    if name := match["name"]:
        return f"sign{name.casefold()}"
    return f"{match.group()} marked{match['marked'].replace('_', '').casefold()}"
