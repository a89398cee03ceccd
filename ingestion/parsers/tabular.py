"""Comma, semicolon and tab separated values: one table."""

from __future__ import annotations

import csv
from io import StringIO

from ingestion.decoding import decode
from ingestion.document import Parsed, RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.builder import DocumentBuilder
from ingestion.parsers.markdown import name_of

_SNIFFED_CHARACTERS = 8192
_MOST_CELL_CHARACTERS = 100_000
_MOST_ROWS = 200_000


class CsvParser:
    """Reads comma, semicolon and tab separated values."""

    media_types = ("text/csv", "text/tab-separated-values")

    def parse(self, content: RawContent) -> Parsed:
        """Return the file as one document with one table.

        Raises:
            UnreadableError: It is not a table.
        """
        text = decode(content.data)
        try:
            csv.field_size_limit(_MOST_CELL_CHARACTERS)
            rows = list(csv.reader(StringIO(text), _dialect(text)))
        except csv.Error as error:
            raise UnreadableError(f"not a table: {error}") from error
        builder = DocumentBuilder()
        builder.table(rows[:_MOST_ROWS])
        if len(rows) > _MOST_ROWS:
            builder.dropped["row"] = len(rows) - _MOST_ROWS
        return builder.parsed(content, title=name_of(content.document_id))


def _dialect(text: str) -> type[csv.Dialect]:
    try:
        return csv.Sniffer().sniff(text[:_SNIFFED_CHARACTERS], delimiters=",;\t|")
    except csv.Error:
        return csv.excel
