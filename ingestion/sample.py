"""The sample corpus: Python's language reference, which every Python ships, and our own docs.

Nobody here wrote the reference, it is real, and it needs no network. Each topic is the text of one
labelled section of the documentation site; the table says on which page the label stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from pydoc_data.topics import topics

from ingestion.document import Block, ParsedDocument
from ingestion.parsers.underlined import UnderlinedReader
from ingestion.slugs import docutils_id

REFERENCE_SOURCE = "python-reference"
DOCS_SOURCE = "vouch-docs"
DOCS_LEFT_OUT = "evaluation/*"
"""Reports of evaluations quote questions: indexed, they would be found instead of the answers."""

_SITE = "https://docs.python.org/3/"
_INDEX = f"{_SITE}reference/index.html"
_PAGES = {
    "reference/simple_stmts.html": (
        "assert assignment augassign break continue del global import nonlocal pass raise return "
        "yield"
    ),
    "reference/compound_stmts.html": "async class compound else for function if try while with",
    "reference/expressions.html": (
        "atom-identifiers atom-literals attribute-references await binary bitwise booleans calls "
        "comparisons conversions dict exprlists in lambda lists operator-summary power shifting "
        "slicings subscriptions unary"
    ),
    "reference/datamodel.html": (
        "attribute-access callable-types context-managers customization numeric-types objects "
        "sequence-types specialnames types"
    ),
    "reference/executionmodel.html": "dynamic-features exceptions execmodel naming",
    "reference/lexical_analysis.html": (
        "floating id-classes identifiers imaginary integers numbers strings"
    ),
    "library/stdtypes.html": (
        "bltin-code-objects bltin-ellipsis-object bltin-null-object bltin-type-objects "
        "specialattrs string-methods truth typesfunctions typesmapping typesmethods typesmodules "
        "typesseq typesseq-mutable"
    ),
    "library/pdb.html": "debugger",
    "library/string.html": "formatstrings",
}
_PAGE_OF = {label: page for page, labels in _PAGES.items() for label in labels.split()}


def topic_url(label: str) -> str:
    """Return where a topic stands on the documentation site.

    A label that this table does not know (another Python version may bring one) leads to the
    reference's index, which is honest, rather than to a guess.
    """
    page = _PAGE_OF.get(label)
    return f"{_SITE}{page}#{label}" if page else _INDEX


def reference_documents() -> Iterator[ParsedDocument]:
    """Yield one document per topic, in alphabetical order."""
    for label in sorted(topics):
        text = topics[label].strip("\n") + "\n"
        blocks = tuple(_with_anchor(block) for block in UnderlinedReader(text).blocks())
        title = next((block.heading for block in blocks if block.kind == "heading"), label)
        yield ParsedDocument(
            document_id=label,
            title=title,
            url=topic_url(label),
            text=text,
            blocks=blocks,
            language="en",
            metadata={"topic": label},
        )


def _with_anchor(block: Block) -> Block:
    """Give a heading its anchor; the topic's own first one keeps the label of its address."""
    if block.kind != "heading" or block.anchor or block.start == 0:
        return block
    return replace(block, anchor=docutils_id(block.heading))


def docs_folder() -> Path:
    """Return the folder of the project's own documentation; it may be absent when installed."""
    return Path(__file__).resolve().parent.parent / "docs"
