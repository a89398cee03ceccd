"""Tables of HTML: rows with spans filled in; tables that only place things are told apart."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

_MOST_SPAN = 100
_LONG_CELL = 400


def is_layout(table: LexborNode) -> bool:
    """Whether a table places blocks on a page rather than showing values."""
    if len(table.css("table")) > 1 or table.css_first("h1, h2, h3, pre"):
        return True
    rows = table.css("tr")
    cells = table.css("td, th")
    widest = max((len(row.css("td, th")) for row in rows), default=0)
    return widest <= 1 or any(len(cell.text()) > _LONG_CELL for cell in cells)


def table_rows(table: LexborNode) -> tuple[list[list[str]], bool]:
    """Return the rows of a table and whether the first is a header.

    A cell that spans rows or columns is repeated in each of them, so that every row can be read on
    its own.
    """
    grid: dict[tuple[int, int], str] = {}
    rows = table.css("tr")
    for y, row in enumerate(rows):
        x = 0
        for cell in row.css("td, th"):
            while (y, x) in grid:
                x += 1
            words = " ".join(cell.text(separator=" ").split())
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            for down in range(min(height, len(rows) - y)):
                for right in range(width):
                    grid[y + down, x + right] = words
            x += width
    columns = max((x for _, x in grid), default=-1) + 1
    filled = [[grid.get((y, x), "") for x in range(columns)] for y in range(len(rows))]
    first = rows[0] if rows else None
    is_header = first is not None and (
        bool(first.css("th")) or table.css_first("thead") is not None
    )
    return _without_repeats(filled), is_header or len(filled) > 1


def _span(cell: LexborNode, name: str) -> int:
    value = cell.attributes.get(name) or ""
    return min(int(value), _MOST_SPAN) if value.isdigit() and int(value) > 0 else 1


def _without_repeats(rows: list[list[str]]) -> list[list[str]]:
    """Blank a row's cells that only repeat the one before, as one wide cell does."""
    return [
        [cell if not at or cell != row[at - 1] else "" for at, cell in enumerate(row)]
        for row in rows
    ]
