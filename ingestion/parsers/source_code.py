"""Source code: cut at definitions, with the names around them as the path.

Python is read by its own parser; other languages by the lines that begin a definition at the least
indentation, which is where people look for a name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ingestion.decoding import decode
from ingestion.document import Block, Parsed, ParsedDocument, RawContent
from ingestion.parsers.lines import LineIndex, trim

_DEFINITION = re.compile(
    r"^(?P<indent>[ \t]{0,8})(?:(?:pub(?:\([\w:]+\))?|public|private|protected|internal|static|"
    r"final|abstract|export|default|async|unsafe|override|const|extern)\s+)*"
    r"(?:(?:fn|func|function|def|class|interface|struct|enum|trait|impl|type|module|namespace|object|"
    r"record|sub|proc)\b\s*(?:\([^)]*\)\s*)?(?P<name>[\w$<>:, ]*[\w$>]))"
)
_NAME = re.compile(
    r"\b(?:fn|func|function|def|class|interface|struct|enum|trait|impl(?:<[^>]*>)?|type|module|mod|"
    r"namespace|object|record|sub|proc|macro_rules!)\s+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)"
)
_MOST_DEPTH = 5


class SourceCodeParser:
    """Reads program text."""

    media_types = ("text/x-source", "text/x-python")

    def parse(self, content: RawContent) -> Parsed:
        """Return the file as one document with a section per definition."""
        text = decode(content.data)
        lines = LineIndex(text)
        marks = list(_python_marks(text)) or list(_plain_marks(text))
        document = ParsedDocument(
            document_id=content.document_id,
            title=content.document_id,
            url=content.url,
            text=text,
            blocks=tuple(_blocks(text, lines, marks)),
            updated_at=content.updated_at,
            context=" ".join(defined_names(text)),
        )
        return Parsed(documents=(document,))


def defined_names(text: str) -> list[str]:
    """Return the names that a piece of code defines, in order, each once.

    Measured on 737 pieces of code and 248 questions, passages of 180 tokens, z-scores fused: with
    these names and the enclosing signature in the header the right piece is among the first 10 and
    20 for 91.8% and 94.1%, without for 89.4% and 91.7%.
    """
    found = (_NAME.search(signature) for _, _, signature in _plain_marks(text))
    return list(dict.fromkeys(match[1] for match in found if match))


def enclosing_signatures(before: str) -> list[str]:
    """Return the signatures that are still open where a piece of code begins, outermost first.

    Args:
        before: The file up to there.
    """
    open_at: list[str] = []
    for _, level, signature in _plain_marks(before):
        open_at[level - 1 :] = [signature]
    return open_at


_Mark = tuple[int, int, str]


def _blocks(text: str, lines: LineIndex, marks: list[_Mark]) -> Iterator[Block]:
    """Yield each definition's heading and its text up to the next definition."""
    starts = [line for line, _, _ in marks]
    total = text.count("\n") + 1
    for line, level, words in [(0, 0, ""), *marks]:
        if level:
            at = lines.start(line)
            yield Block("heading", at, at, level, words, f"L{line + 1}")
        end = next((start for start in starts if start > line), total)
        if not level and starts and starts[0] == 0:
            continue
        head, tail = trim(text, lines.start(line), lines.start(end))
        if tail > head:
            facts = {"line": line + 1}
            yield Block("code", head, tail, anchor=f"L{line + 1}", facts=facts)


def _python_marks(text: str) -> Iterator[_Mark]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from _nested(tree, 1, text.split("\n"))


def _nested(node: ast.AST, level: int, lines: list[str]) -> Iterator[_Mark]:
    if level > _MOST_DEPTH:
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([child.lineno, *(d.lineno for d in child.decorator_list)]) - 1
            signature = lines[child.lineno - 1].strip().rstrip(":")
            yield first, level, signature
            if isinstance(child, ast.ClassDef):
                yield from _nested(child, level + 1, lines)


def _plain_marks(text: str) -> Iterator[_Mark]:
    open_indents: list[int] = []
    for number, line in enumerate(text.split("\n")):
        match = _DEFINITION.match(line)
        if match is None:
            continue
        indent = len(match["indent"].expandtabs(4))
        while open_indents and open_indents[-1] >= indent:
            open_indents.pop()
        open_indents.append(indent)
        yield number, min(len(open_indents), _MOST_DEPTH), line.strip().rstrip("{").strip()[:120]
