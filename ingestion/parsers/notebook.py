"""Jupyter notebooks: prose, code and what the code printed."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ingestion.decoding import decode
from ingestion.document import Parsed, RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.builder import DocumentBuilder

_MOST_OUTPUT_CHARACTERS = 4000
_Lines = str | list[str]


class _Output(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: _Lines = ""
    data: dict[str, object] = Field(default_factory=dict)


class _Cell(BaseModel):
    model_config = ConfigDict(extra="ignore")

    cell_type: Literal["markdown", "code", "raw", "heading"]
    source: _Lines = ""
    outputs: list[_Output] = Field(default_factory=list[_Output])


class _Notebook(BaseModel):
    model_config = ConfigDict(extra="ignore")

    cells: list[_Cell]


class NotebookParser:
    """Reads ``.ipynb`` files of format 4."""

    media_types = ("application/x-ipynb+json",)

    def parse(self, content: RawContent) -> Parsed:
        """Return the notebook as one document.

        Raises:
            UnreadableError: It is not a notebook.
        """
        try:
            notebook = _Notebook.model_validate(json.loads(decode(content.data)))
        except (ValidationError, ValueError, RecursionError) as error:
            raise UnreadableError("not a notebook of format 4") from error
        builder = DocumentBuilder()
        for cell in notebook.cells:
            if cell.cell_type == "code":
                builder.code(_joined(cell.source))
                for output in cell.outputs:
                    _add_output(builder, output)
            else:
                builder.markdown(_joined(cell.source))
        return builder.parsed(content)


def _add_output(builder: DocumentBuilder, output: _Output) -> None:
    plain = output.data.get("text/plain", "")
    text = _joined(output.text) or (plain if isinstance(plain, str) else "")
    if len(text) > _MOST_OUTPUT_CHARACTERS:
        builder.dropped["long_output"] += 1
    else:
        builder.code(text)
    builder.dropped["rich_output"] += sum(1 for kind in output.data if kind != "text/plain")


def _joined(lines: _Lines) -> str:
    return lines if isinstance(lines, str) else "".join(lines)
