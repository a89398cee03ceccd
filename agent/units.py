"""What the extractive agent may quote: whole sentences, with the code or list they introduce."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from prose.blocks import Block, split_blocks

UnitKind = Literal["sentence", "row", "code"]

_BREAK = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[`*_]*[A-Z0-9\"“`_*])")
_ABBREVIATION = re.compile(
    r"(?:(?i:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|fig|sec|dr|mr|ms|st))|\b[A-Z]|^\s*\d+)\.$"
)
_HYPHEN_WRAP = re.compile(r"(?<=\w)-\n\s*(?=[a-z])")
_BULLET = re.compile(r"^\s*(?:[*\-+•]|\d{1,3}[.)])\s+")
_RULE_ROW = re.compile(r"^\s*[|+]?[\s|+:=\-]+[|+]?\s*$")
# Left over where a chunk begins inside a drawn table.
_TABLE_DEBRIS = re.compile(r"\+[-=]{3,}|\|\s+\|")
_COMPANION_CHARACTERS = 900
_COMPANION_ITEMS = 8


@dataclass(frozen=True, slots=True)
class Companion:
    """What a sentence introduces: one code block, or the items of a list."""

    kind: Literal["code", "list"]
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Names:
    """The heading and the signature (a defined name, a list's term) above a unit; may be empty."""

    heading: str = ""
    signature: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """One quotable piece of a passage.

    Attributes:
        index: Place within the passage, from 0.
        block: Number of the block it stands in.
        text: The words, hard line ends undone.
        names: What it stands under, within the passage.
        is_opening: First sentence of its block.
        is_bulleted: Part of a list item.
        companion: What it introduces.
    """

    index: int
    block: int
    kind: UnitKind
    text: str
    names: Names = Names()
    is_opening: bool = False
    is_bulleted: bool = False
    companion: Companion | None = None

    @property
    def full_text(self) -> str:
        """The words together with those of what they introduce."""
        return " ".join((self.text, *(self.companion.parts if self.companion else ())))


def split_units(text: str) -> list[Unit]:
    """Return the quotable pieces of a passage, in order."""
    blocks = split_blocks(text)
    units: list[Unit] = []
    heading = signature = ""
    depth = 0
    introduced = -1
    for number, block in enumerate(blocks):
        if block.kind == "heading":
            heading, signature = _clean(block.text), ""
        elif block.kind == "signature":
            signature, depth = _clean(block.text), block.indent
        elif number != introduced:
            follows = _companion(blocks, number)
            if follows and follows.kind == "code":
                introduced = number + 1
            names = Names(heading, signature if block.indent > depth else "")
            units += _quotable(_pieces(block, number, names, follows), len(units))
    return units


def _quotable(pieces: list[Unit], offset: int) -> list[Unit]:
    kept = [piece for piece in pieces if not _TABLE_DEBRIS.search(piece.text)]
    return [replace(piece, index=offset + place) for place, piece in enumerate(kept)]


def split_sentences(text: str) -> list[str]:
    """Split one paragraph at sentence ends, keeping abbreviations and code spans whole."""
    sentences: list[str] = []
    start = 0
    for found in _BREAK.finditer(text):
        head = text[start : found.end()].rstrip()
        if _ABBREVIATION.search(head) or head.count("`") % 2 or _is_open(head):
            continue
        sentences.append(text[start : found.end()].strip())
        start = found.end()
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]


def unwrap(text: str) -> str:
    """Undo hard line ends; the words stay as they are."""
    return " ".join(_HYPHEN_WRAP.sub("-", text).split())


def _pieces(block: Block, number: int, names: Names, follows: Companion | None) -> list[Unit]:
    if block.kind == "code":
        return [Unit(0, number, "code", block.text, names)]
    if block.kind == "table":
        return [Unit(0, number, "row", row, names) for row in _rows(block.text)]
    bulleted = block.kind == "item"
    sentences = split_sentences(unwrap(_BULLET.sub("", block.text) if bulleted else block.text))
    last = len(sentences) - 1
    return [
        Unit(
            index=0,
            block=number,
            kind="sentence",
            text=sentence,
            names=names,
            is_opening=place == 0,
            is_bulleted=bulleted,
            companion=follows if place == last else None,
        )
        for place, sentence in enumerate(sentences)
    ]


def _companion(blocks: list[Block], number: int) -> Companion | None:
    """Return what follows a block whose last sentence introduces it."""
    block = blocks[number]
    after = blocks[number + 1 :]
    if block.kind not in ("paragraph", "item") or not after:
        return None
    if after[0].kind == "code" and len(after[0].text) <= _COMPANION_CHARACTERS:
        return Companion("code", (after[0].text,)) if block.text.endswith(":") else None
    if not block.text.endswith(":"):
        return None
    items: list[str] = []
    for item in after:
        is_nested = bool(items) and item.indent > after[0].indent
        if len(items) == _COMPANION_ITEMS or not (item.kind == "item" or is_nested):
            break
        if item.kind == "item" and not is_nested:
            items.append(unwrap(_BULLET.sub("", item.text)))
    return Companion("list", tuple(items)) if items else None


def _rows(text: str) -> list[str]:
    """Return table rows as ``Header: cell; Header: cell``, continued grid lines joined."""
    rows: list[list[str]] = []
    lines = [line.strip() for line in text.splitlines()]
    is_grid = lines[0].startswith("+")
    edges = [place for place, sign in enumerate(lines[0]) if sign == "+"]
    fresh = True
    for line in lines:
        if _RULE_ROW.match(line):
            fresh = True
            continue
        cells = _grid_cells(line, edges) if is_grid else _pipe_cells(line)
        if is_grid and not fresh and rows and len(rows[-1]) == len(cells):
            rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
        fresh = False
    if len(rows) < 2:  # noqa: PLR2004 - a header and at least one row
        return [" ".join(row) for row in rows]
    return [_row(rows[0], row) for row in rows[1:]]


def _grid_cells(line: str, edges: list[int]) -> list[str]:
    return [line[left + 1 : right].strip() for left, right in pairwise(edges)]


def _pipe_cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _row(header: list[str], cells: list[str]) -> str:
    if len(header) != len(cells):
        return "; ".join(filter(None, cells))
    named = zip(header, cells, strict=True)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def _is_open(head: str) -> bool:
    return head.count("(") > head.count(")") and len(head) < _COMPANION_CHARACTERS


def _clean(text: str) -> str:
    lines = [line.strip().lstrip("#").strip() for line in text.splitlines()]
    return "\n".join(line for line in lines if re.search(r"\w", line))
