"""Spreadsheets: a section per sheet, its rows as one table."""

from __future__ import annotations

from io import BytesIO

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from ingestion.document import Parsed, RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.archive import check_archive
from ingestion.parsers.builder import DocumentBuilder
from ingestion.parsers.markdown import name_of
from ingestion.parsers.sniffing import XLSX

_MOST_ROWS = 200_000


class SpreadsheetParser:
    """Reads XLSX workbooks: the values shown, not the formulas."""

    media_types = (XLSX,)

    def parse(self, content: RawContent) -> Parsed:
        """Return the workbook as one document with a section per sheet.

        Raises:
            UnreadableError: It is damaged or over the archive limits.
        """
        check_archive(content.data)
        builder = DocumentBuilder()
        try:
            book = load_workbook(BytesIO(content.data), read_only=True, data_only=True)
            for sheet in book.worksheets:
                builder.facts = {"sheet": sheet.title}
                builder.heading(1, sheet.title)
                rows = [
                    ["" if value is None else str(value) for value in row]
                    for row in sheet.iter_rows(values_only=True, max_row=_MOST_ROWS)
                ]
                builder.table(rows)
        except (InvalidFileException, KeyError, ValueError, TypeError, OSError) as error:
            raise UnreadableError(f"damaged spreadsheet: {error}") from error
        return builder.parsed(content, title=name_of(content.document_id))
