"""The contextual header: where a passage stands, in front of what is embedded and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Sequence

HEADER_FORMAT = "path-1"
"""Name and version, part of a build's stamp: vectors with other headers are not comparable."""


SEPARATOR = " > "


def header_format(summaries: str = "") -> str:
    """Return the header format of a build.

    Args:
        summaries: Version and model of the sentences in its headers; empty for none.
    """
    return f"{HEADER_FORMAT}+{summaries}" if summaries else HEADER_FORMAT


def build_header(
    title: str, path: Sequence[str], *, limit_tokens: int, count: Callable[[str], int]
) -> str:
    """Return ``title > path > heading``, repetitions left out, never over the limit.

    What is too long loses its middle first: the title says which document, the last heading which
    passage. If even these two do not fit, the last heading alone is kept, cut at a word.

    Args:
        title: Title of the document.
        path: Headings from the top down to the passage's own.
        limit_tokens: The embedding model's tokens the header may have, >= 0.
        count: Counts those tokens.
    """
    parts: list[str] = []
    for part in (title, *path):
        if part and (not parts or part.casefold() != parts[-1].casefold()):
            parts.append(part)
    while len(parts) > 2 and count(SEPARATOR.join(parts)) > limit_tokens:  # noqa: PLR2004
        parts.pop(1)
    header = SEPARATOR.join(parts)
    if count(header) > limit_tokens and parts:
        header = parts[-1]
    while header and count(header) > limit_tokens:
        header = header[: len(header) // 2] if " " not in header else header.rpartition(" ")[0]
    return header


def with_context(
    header: str, context: str, *, limit_tokens: int, count: Callable[[str], int]
) -> str:
    """Return the header with as many words of the document's context as fit below it."""
    words = context.split()
    while words and count(" ".join((header, *words))) > limit_tokens:
        words = words[: len(words) * 3 // 4]
    return f"{header}\n{' '.join(words)}" if words else header
