"""Questions and answers in YAML, as documentation sites keep their FAQ pages."""

from __future__ import annotations

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ingestion.decoding import decode
from ingestion.document import Parsed, RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.builder import DocumentBuilder
from ingestion.slugs import SlugCounter

_MOST_ALIASES = 50


class _Pair(BaseModel):
    model_config = ConfigDict(extra="ignore")

    question: str
    answer: str


class _Group(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str = ""
    questions: list[_Pair] = Field(default_factory=list[_Pair])


class _Faq(BaseModel):
    model_config = ConfigDict(extra="ignore")

    title: str = ""
    summary: str | None = ""
    sections: list[_Group] = Field(default_factory=list[_Group])
    questions: list[_Pair] = Field(default_factory=list[_Pair])


class FaqParser:
    """Reads YAML files with ``questions``, alone or in ``sections``."""

    media_types = ("application/yaml",)

    def parse(self, content: RawContent) -> Parsed:
        """Return the page as one document with a section per question.

        Raises:
            UnreadableError: It is no YAML, or has no questions.
        """
        text = decode(content.data)
        if text.count("*") - text.count("**") > _MOST_ALIASES and text.count("&") > _MOST_ALIASES:
            raise UnreadableError("YAML with too many references")
        try:
            faq = _Faq.model_validate(yaml.safe_load(text))
        except (yaml.YAMLError, ValidationError, ValueError, RecursionError) as error:
            raise UnreadableError("YAML without questions and answers") from error
        groups = [*faq.sections, _Group(questions=faq.questions)]
        if not any(group.questions for group in groups):
            raise UnreadableError("YAML without questions and answers")
        builder = DocumentBuilder()
        slugs = SlugCounter()
        builder.markdown(faq.summary or "")
        for group in groups:
            builder.heading(1, group.name, slugs.slug(group.name) if group.name else "")
            for pair in group.questions:
                builder.heading(2, pair.question, slugs.slug(" ".join(pair.question.split())))
                builder.markdown(pair.answer)
        return builder.parsed(content, title=faq.title)
