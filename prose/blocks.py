"""A passage as blocks: paragraphs, list items, code, tables, headings, signatures.

Reads Markdown and the plain text that reST renders to, where code is only indented and a
definition is a signature line with an indented body.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal

from prose.words import STOP_WORDS, surface_words

BlockKind = Literal["paragraph", "item", "code", "table", "heading", "signature"]

_FENCE = re.compile(r"^\s*(```+|~~~+)")
_HEADING = re.compile(r"^#{1,6}\s+\S")
_UNDERLINE = re.compile(r"^\s*([=\-*~^\"#])\1{2,}\s*$")
_TABLE = re.compile(r"^\s*(\||\+[-=]{2,})")
_ITEM = re.compile(r"^\s*(?:[*\-+•]|\d{1,3}[.)])\s+\S")
_TERM_CHARACTERS = 100
_TERM_LINES = 6
_CODE_MARK = re.compile(
    r"^\s*(?:>>>|\.\.\. |\$ |[\w.\"()\[\]]+ *(?:::=|\+?= )|@\w|import |def )"
    r"|^\s*(?:if|for|while|try|with|class|else|elif|except|finally|async|match|case)\b"
    r"[^.?!\n]*:(?: *(?:pass|raise|return|break|continue|\.\.\.)\b.*)?[ \t]*(?:#.*)?$",
    re.MULTILINE,
)
_HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(\w+)[^<>]*style\s*=\s*[\"'][^\"'<>]*(?:display\s*:\s*none|visibility\s*:\s*hidden)"
    r"[^<>]*>.*?</\1\s*>",
    re.DOTALL | re.IGNORECASE,
)
_ADMONITION = re.compile(
    r"^\s*(?:note|warning|see also|hint|important|tip|caution|danger)s?:?\s*$", re.IGNORECASE
)
_CODE_INDENT = 3
_PROSE_STOP_WORD_SHARE = 0.2
_LABEL_WORDS = 10


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines of one kind.

    Attributes:
        start: First character in the passage.
        end: One past the last character.
        indent: Leading blanks of the first line.
        text: The characters as they stand.
    """

    kind: BlockKind
    start: int
    end: int
    indent: int
    text: str


def mask_hidden(text: str) -> str:
    """Blank out what a reader of the rendered page never sees, keeping all offsets."""
    return _HIDDEN.sub(lambda found: re.sub(r"\S", " ", found.group()), text)


def split_blocks(text: str) -> list[Block]:
    """Return the blocks of a passage, in order, hidden text left out."""
    visible = mask_hidden(text)
    blocks: list[Block] = []
    lines = visible.splitlines(keepends=True)
    offset = index = 0
    while index < len(lines):
        if not lines[index].strip():
            offset += len(lines[index])
            index += 1
            continue
        kind, count = _take(lines, index)
        body = "".join(lines[index : index + count])
        kept = body.rstrip()
        indent = len(kept) - len(kept.lstrip(" "))
        blocks.append(Block(kind, offset, offset + len(kept), indent, kept))
        offset += len(body)
        index += count
    return _with_signatures(blocks)


def _take(lines: list[str], index: int) -> tuple[BlockKind, int]:
    """Return the kind of the block that starts at a line, and its number of lines."""
    marked = _marked(lines, index)
    if marked:
        return marked
    count = _run(lines, index, lambda each: not _starts_block(each))
    if _ITEM.match(lines[index]):
        return "item", count
    body = "".join(lines[index : index + count])
    if _indent(lines[index]) >= _CODE_INDENT and _is_code(body):
        return "code", _indented(lines, index)
    return ("heading" if _is_label(body) else "paragraph"), count


def _marked(lines: list[str], index: int) -> tuple[BlockKind, int] | None:
    """Recognise what its first line alone decides."""
    line = lines[index]
    fence = _FENCE.match(line)
    if fence:
        return "code", _fenced(lines, index, fence.group(1)[:3])
    if _HEADING.match(line):
        return "heading", 1
    if index + 1 < len(lines) and _UNDERLINE.match(lines[index + 1]) and "|" not in line:
        return "heading", 2
    if _ADMONITION.match(line):
        return "paragraph", 1
    if _TABLE.match(line):
        return "table", _run(lines, index, lambda each: bool(_TABLE.match(each)))
    return None


def _run(lines: list[str], index: int, belongs: Callable[[str], bool]) -> int:
    count = 1
    while index + count < len(lines):
        line = lines[index + count]
        if not line.strip() or not belongs(line):
            break
        count += 1
    return count


def _fenced(lines: list[str], index: int, mark: str) -> int:
    for count, line in enumerate(lines[index + 1 :], start=2):
        if line.strip().startswith(mark):
            return count
    return len(lines) - index


def _indented(lines: list[str], index: int) -> int:
    """Count an indented code block's lines, later paragraphs of code included."""
    depth = _indent(lines[index])
    count = _run(lines, index, lambda each: _indent(each) >= depth)
    while True:
        after = index + count
        while after < len(lines) and not lines[after].strip():
            after += 1
        if after == len(lines) or _indent(lines[after]) < depth:
            return count
        more = _run(lines, after, lambda each: _indent(each) >= depth)
        body = "".join(lines[after : after + more])
        follower = next((each for each in lines[after + more :] if each.strip()), "")
        if not _is_code(body) or _indent(follower) > _indent(lines[after]):
            return count
        count = after + more - index


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _starts_block(line: str) -> bool:
    return bool(_ITEM.match(line) or _FENCE.match(line) or _HEADING.match(line))


def _is_code(body: str) -> bool:
    if _CODE_MARK.search(body):
        return True
    words = surface_words(body)
    common = sum(word.casefold() in STOP_WORDS for word in words)
    return not words or common / len(words) < _PROSE_STOP_WORD_SHARE


def _is_label(body: str) -> bool:
    """Whether a paragraph is only a heading that lost its mark."""
    text = body.strip()
    return len(text.split()) <= _LABEL_WORDS and text[-1] not in '.!?:;)`"' and "\n" not in text


def _with_signatures(blocks: list[Block]) -> list[Block]:
    """Mark lines that name what the deeper block after them defines."""
    return [
        replace(block, kind="signature") if _is_signature(block, after) else block
        for block, after in zip_longest(blocks, blocks[1:])
        if block is not None
    ]


def _is_signature(block: Block | None, after: Block | None) -> bool:
    if block is None or after is None or after.indent <= block.indent:
        return False
    lines = [line.strip() for line in block.text.splitlines()]
    return (
        block.kind in ("paragraph", "heading", "code")
        and len(lines) <= _TERM_LINES
        and all(len(line) <= _TERM_CHARACTERS and line[-1:] not in ".:,;!?" for line in lines)
    )
