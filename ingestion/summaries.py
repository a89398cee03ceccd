"""A model's sentence about each document, put beside the headers of its passages when embedded.

Off unless an endpoint is named. A sentence is kept under the hash of what it was made from, so that
a document that did not change costs nothing again; what a run may spend is bounded in documents and
in tokens, and its report says what was spent and what went without.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from ingestion.document import ParsedDocument
from retrieval.errors import ModelUnavailableError
from service.logs import get_logger

SUMMARY_VERSION = "summary-1"
"""Of prompt and rules; part of the header format and of every key."""

ANSWER_TOKENS = 80

_PROMPT = Path(__file__).with_name("summary.md").read_text(encoding="utf-8")
_CHARACTERS_PER_TOKEN = 3  # a cautious estimate, used before a call and where no usage is told
_MOST_WORDS = 60
_MOST_FAILURES = 3
_logger = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a model wrote, with the tokens it says that it took."""

    text: str
    prompt_tokens: int
    completion_tokens: int


class SummaryModel(Protocol):
    """An endpoint with a model behind it."""

    @property
    def name(self) -> str:
        """Name of the model."""
        ...

    def complete(self, prompt: str, *, answer_tokens: int) -> Summary:
        """Answer one prompt; blocks.

        Raises:
            ModelUnavailableError: It cannot be reached, is late or answers nonsense.
        """
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class SummaryCache(Protocol):
    """Where sentences are kept."""

    def get(self, key: bytes) -> str | None:
        """Return a sentence, or None."""
        ...

    def put(self, key: bytes, text: str) -> None:
        """Keep a sentence."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


@dataclass(frozen=True, slots=True)
class SummaryLimits:
    """What one run may spend.

    Attributes:
        documents: Calls of the model, cached sentences not counted.
        tokens: Prompts and answers together.
        input_characters: Of a document, from its beginning, that the model is shown.
    """

    documents: int
    tokens: int
    input_characters: int


class SummaryReport(BaseModel):
    """What the sentences of one run cost."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    made: int = Field(ge=0, description="Written by the model in this run.")
    cached: int = Field(ge=0, description="Known from an earlier run.")
    failed: int = Field(ge=0, description="Documents without one because the model failed.")
    left_out: int = Field(ge=0, description="Documents without one because a bound was reached.")
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)


@dataclass(frozen=True, slots=True)
class SummaryTools:
    """What sentences are made with, for as long as the ingestion's tools are open."""

    model: SummaryModel
    cache: SummaryCache
    limits: SummaryLimits

    @property
    def name(self) -> str:
        """Version and model, part of the header format of what is built with them."""
        return f"{SUMMARY_VERSION}({self.model.name})"

    def close(self) -> None:
        """Release the connections and the file."""
        self.model.close()
        self.cache.close()


class Summariser:
    """Describes the documents of one run, and counts.

    Args:
        tools: Model, cache and bounds.
    """

    def __init__(self, tools: SummaryTools) -> None:
        self._tools = tools
        self._made = self._cached = self._failed = self._left_out = 0
        self._prompt_tokens = self._completion_tokens = 0
        self._failures_in_a_row = 0

    def describe(self, document: ParsedDocument) -> ParsedDocument:
        """Return the document with its sentence in the context; without one it comes back as it is.

        Blocks while the model writes.
        """
        shown = document.text[: self._tools.limits.input_characters]
        prompt = _PROMPT.replace("{title}", document.title).replace("{text}", shown)
        key = summary_key(self._tools.model.name, prompt)
        sentence = self._tools.cache.get(key)
        if sentence is not None:
            self._cached += 1
        else:
            sentence = self._write(prompt, document.document_id)
            if sentence is None:
                return document
            self._tools.cache.put(key, sentence)
        return replace(document, context=f"{document.context} {sentence}".strip())

    def report(self) -> SummaryReport:
        """Return what was spent so far."""
        return SummaryReport(
            model=self._tools.model.name,
            made=self._made,
            cached=self._cached,
            failed=self._failed,
            left_out=self._left_out,
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._completion_tokens,
        )

    def _write(self, prompt: str, document_id: str) -> str | None:
        """Return a new sentence; None when a bound is reached or the model fails."""
        if not self._may_spend(len(prompt) // _CHARACTERS_PER_TOKEN + ANSWER_TOKENS):
            self._left_out += 1
            return None
        try:
            found = self._tools.model.complete(prompt, answer_tokens=ANSWER_TOKENS)
        except ModelUnavailableError as error:
            _logger.warning("no summary", document=document_id, detail=str(error))
            self._failed += 1
            self._failures_in_a_row += 1
            return None
        self._failures_in_a_row = 0
        self._made += 1
        self._prompt_tokens += found.prompt_tokens or len(prompt) // _CHARACTERS_PER_TOKEN
        self._completion_tokens += (
            found.completion_tokens or len(found.text) // _CHARACTERS_PER_TOKEN
        )
        return " ".join(found.text.split()[:_MOST_WORDS])

    def _may_spend(self, tokens: int) -> bool:
        limits = self._tools.limits
        calls = self._made + self._failed
        spent = self._prompt_tokens + self._completion_tokens
        # An endpoint that is down is not asked for every document of a large source.
        is_up = self._failures_in_a_row < _MOST_FAILURES
        return is_up and calls < limits.documents and spent + tokens <= limits.tokens


def summary_key(model: str, prompt: str) -> bytes:
    """Return the key of a sentence: everything it was made from, 16 bytes."""
    parts = f"{SUMMARY_VERSION}\x00{model}\x00{prompt}"
    return hashlib.blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=16).digest()
