"""Every tool the API calls, with the type its result is checked against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from pydantic import TypeAdapter

from knowledge.client_wire import CallOutcome, ListOutcome, Reply, ResultT
from knowledge.contracts import (
    AuditPage,
    ContentChange,
    Embeddings,
    Forgotten,
    Measurement,
    SearchResult,
    SearchTrace,
    SectionPage,
    Source,
)
from knowledge.packing import FittedPassages


@dataclass(frozen=True, slots=True)
class ToolType(Generic[ResultT]):
    """A tool's name and the reply it is agreed to give."""

    name: str
    adapter: TypeAdapter[Reply[CallOutcome[ResultT]]]


LISTING = TypeAdapter(Reply[ListOutcome])

SEARCH_KB = ToolType("search_kb", TypeAdapter(Reply[CallOutcome[SearchResult]]))
GET_SOURCE = ToolType("get_source", TypeAdapter(Reply[CallOutcome[Source]]))
LIST_SECTIONS = ToolType("list_sections", TypeAdapter(Reply[CallOutcome[SectionPage]]))
GET_RELATED = ToolType("get_related", TypeAdapter(Reply[CallOutcome[SearchResult]]))

READ_AUDIT = ToolType("read_audit", TypeAdapter(Reply[CallOutcome[AuditPage]]))
FORGET_ASKS = ToolType("forget_asks", TypeAdapter(Reply[CallOutcome[Forgotten]]))
READ_CALLS = ToolType("read_calls", TypeAdapter(Reply[CallOutcome[AuditPage]]))
TRACE_SEARCH = ToolType("trace_search", TypeAdapter(Reply[CallOutcome[SearchTrace]]))
MEASURE_CHUNKS = ToolType("measure_chunks", TypeAdapter(Reply[CallOutcome[Measurement]]))
COMPARE_CONTENT = ToolType("compare_content", TypeAdapter(Reply[CallOutcome[ContentChange]]))
EMBED_TEXTS = ToolType("embed_texts", TypeAdapter(Reply[CallOutcome[Embeddings]]))
FIT_EVIDENCE = ToolType("fit_evidence", TypeAdapter(Reply[CallOutcome[FittedPassages]]))
