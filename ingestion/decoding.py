"""Bytes to text: marks first, then UTF-8, then what the file declares, then a measured guess."""

from __future__ import annotations

import codecs
import re
import unicodedata

from charset_normalizer import from_bytes

from ingestion.errors import UnreadableError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_SAMPLE_BYTES = 4096
_GUESSED_BYTES = 200_000
_ZERO_SHARE = 0.2
_CONTROL_SHARE = 0.05
_ACCENTED_SHARE = 0.35
_TYPOGRAPHY = frozenset("–—‘’“”„…•€£§©®°±·«»½¼¾ \xa0×")
_ALLOWED_CONTROLS = frozenset(b"\t\n\r\f\x1b\x08")


def decode(data: bytes) -> str:
    """Return the text with Unix line ends and without a byte order mark.

    Raises:
        UnreadableError: The bytes are no text in any encoding tried.
    """
    return _decode(data).replace("\r\n", "\n").replace("\r", "\n")


def _decode(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _strict(data.removeprefix(mark), encoding)
    sample = data[:_SAMPLE_BYTES]
    wide = _guess_wide(sample)
    if wide:
        return _printable(_strict(data, wide))
    controls = sum(1 for byte in sample if byte < 32 and byte not in _ALLOWED_CONTROLS)  # noqa: PLR2004
    if 0 in sample or controls > _CONTROL_SHARE * len(sample):
        raise UnreadableError("binary data, not text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _legacy(data)


def _legacy(data: bytes) -> str:
    declared = _DECLARED.search(data[:_SAMPLE_BYTES])
    if declared:
        try:
            return data.decode(declared[1].decode("ascii"))
        except (LookupError, UnicodeDecodeError):
            pass  # a false declaration: go on as if there were none
    western = _western(data)
    if western:
        return western
    best = from_bytes(data[:_GUESSED_BYTES]).best()
    if best is None:
        raise UnreadableError("text in no known encoding")
    return data.decode(best.encoding, "replace")


def _western(data: bytes) -> str:
    """Return the text as Windows Western when it reads as such, else nothing.

    A few accented letters among many plain ones are too little for statistics, and are Western far
    more often than anything else.
    """
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return ""
    beyond = [character for character in text if ord(character) > 127]  # noqa: PLR2004 - ASCII
    letters = sum(1 for character in text if character.isalpha())
    is_plausible = len(beyond) <= _ACCENTED_SHARE * letters and all(
        character in _TYPOGRAPHY
        or unicodedata.name(character, "").startswith("LATIN SMALL")
        or unicodedata.name(character, "").startswith("LATIN CAPITAL")
        for character in set(beyond)
    )
    return text if is_plausible else ""


def _printable(text: str) -> str:
    sample = text[:_SAMPLE_BYTES]
    odd = sum(
        1 for c in sample if unicodedata.category(c) in {"Cc", "Cn", "Co"} and c not in "\t\n\r"
    )
    if odd > _CONTROL_SHARE * len(sample):
        raise UnreadableError("binary data, not text")
    return text


def _strict(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(f"not valid {encoding} text") from error


def _guess_wide(sample: bytes) -> str:
    """Name UTF-16 without a mark by where the zero bytes of its Latin letters stand."""
    half = len(sample) // 2
    if not half:
        return ""
    if sample[1::2].count(0) > half * _ZERO_SHARE and not sample[::2].count(0):
        return "utf-16-le"
    if sample[::2].count(0) > half * _ZERO_SHARE and not sample[1::2].count(0):
        return "utf-16-be"
    return ""
