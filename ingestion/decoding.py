"""Bytes to text: byte order marks first, then UTF-8, then UTF-16 by its zeros."""

from __future__ import annotations

import codecs

from ingestion.errors import UnreadableError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE_BYTES = 4096
_ZERO_SHARE = 0.2


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
    wide = _guess_wide(data[:_SAMPLE_BYTES])
    if wide:
        return _strict(data, wide)
    if b"\0" in data[:_SAMPLE_BYTES]:
        raise UnreadableError("binary data, not text")
    return _strict(data, "utf-8")


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
