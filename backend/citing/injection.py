"""Finds text in a passage that is aimed at a model and not at a reader.

A signal of provenance, not a defence: what a passage says is never obeyed whatever this finds. But
words that stand only in such text cannot support a claim, and the inspector shows where they are.
Documentation is full of imperatives and of prompts as examples, so each rule needs the whole
figure of an attack (who is addressed, what is to be dropped, what is to be said instead) and not
a single word of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

InjectionKind = Literal["override", "dictation", "false_turn", "concealment", "smuggling"]

LONGEST_PAYLOAD_CHARACTERS = 600

_DROP = r"(?:ignore|disregard|forget|discard)"
_WHAT = (
    r"(?:instructions?|directions?|directives?|guidelines?|rules|prompts?|commands?|messages?|"
    r"context|conversation|information|info|data|documents?|text|content|training|everything)"
)
_BEFORE = (
    r"(?:previous(?:ly)?|prior|preceding|earlier|above|before|foregoing|existing|initial|original|"
    r"rest|other|system|all)"
)
_RULES: tuple[tuple[InjectionKind, str], ...] = (
    (
        "override",
        rf"\b{_DROP}\s+(?:\w+\s+){{0,3}}?{_BEFORE}\s+(?:\w+\s+){{0,2}}?{_WHAT}\b"
        r"(?![^.\n]{0,40}\b(?:in|from) (?:git|the (?:file|log|table)))",
    ),
    (
        "override",
        r"\b(?:override|bypass|skip)\s+(?:all|any|your|every)\s+(?:\w+\s+){0,3}?"
        r"(?:instructions?|rules|guidelines|restrictions?|safety|safeguards?|prompts?)\b",
    ),
    ("override", rf"\b{_DROP}\s+(?:them|it|this|that|everything)\b[^.\n]{{0,30}}\binstead\b"),
    ("override", rf"\b(?:i|we)\s+(?:want|need|ask|order)\s+you\s+to\s+{_DROP}\b"),
    ("override", rf"\b{_DROP}\s+(?:everything|all)\s+(?:above|before|you|i|we|that\s+came)\b"),
    (
        "override",
        r"\b(?:do\s+not|don['’]t|stop)\s+(?:follow|obey|use)(?:ing)?\s+(?:\w+\s+){0,2}?"
        rf"{_BEFORE}\s+(?:\w+\s+)?(?:instructions|rules|guidelines|prompts?)\b",
    ),
    (
        "override",
        r"\b(?:new|updated|real|actual)\s+(?:system\s+)?(?:instructions?|prompt|directives?)\s*:"
        r"[^\n]{0,120}\byou\s+(?:must|are|will|should)\b",
    ),
    (
        "override",
        r"\byou\s+are\s+(?:now|no\s+longer)\s+(?:in\s+)?(?:DAN\b|an?\s+(?:unrestricted|unfiltered|"
        r"jailbroken|evil|different)|(?:developer|god|debug)\s+mode|bound\s+by|restricted)",
    ),
    (
        "dictation",
        r"\b(?:reply|respond|answer|output|print|say|return|write)\s+(?:with\s+)?"
        r"(?:only|exactly|nothing\s+but|just)\s+(?:with\s+)?(?:the\s+)?(?:following|this|these)\b"
        r"[^\n]{0,60}\b(?:nothing\s+else|no(?:thing)?\s+(?:other|more)|and\s+absolutely)\b",
    ),
    (
        "dictation",
        r"\bfocus\s+(?:only|exclusively|solely)\s+on\s+the\s+(?:following\s+)?information\b"
        r"[^\n]{0,60}(?:\bprovide\s+it\b|\bbrackets?\b|\bto\s+the\s+user\b|[:<])",
    ),
    (
        "dictation",
        r"\b(?:if|when(?:ever)?)\s+(?:the\s+|a\s+)?(?:user|human|reader|person|anyone)\s+asks?\b"
        r"[^\n]{0,50}\b(?:reply|respond|answer|tell|say|print|recommend|output)\b[^\n]{0,60}"
        r"\b(?:only|instead|nothing\s+else|regardless|always)\b",
    ),
    (
        "dictation",
        r"\b(?:ai|assistants?|language\s+models?|llms?|chatbots?|agents?)\b[^.\n]{0,60}"
        r"\breading\s+this\b[^\n]{0,120}\b(?:must|should|please|reply|respond|recommend|say|"
        r"include|ignore|call|send)\b",
    ),
    ("false_turn", r"(?:<\s*/?\s*end\s+of\s+(?:session|conversation|context|document)\s*>\s*){2,}"),
    (
        "false_turn",
        r"</(?:documents?|context|search_results?|evidence|passages?|tool_result)>\s*"
        r"(?:(?:human|user|system|assistant)\s*:|<\s*(?:system|user|instructions?)\b)",
    ),
    (
        "false_turn",
        r"(?:<\|im_start\|>|\[INST\]|<<SYS>>)[^\n]{0,200}\b"
        rf"(?:{_DROP}|reveal|print|reply\s+only|send)\b",
    ),
    (
        "concealment",
        r"\b(?:do\s+not|don['’]t|never)\s+(?:tell|inform|mention|reveal|disclose)\b[^.\n]{0,40}"
        r"\b(?:these|this)\s+(?:hidden\s+)?(?:instructions?|note|message|step)s?\b"
        r"[^.\n]{0,40}(?:\bto\s+(?:the\s+)?(?:user|human|reader)|[.!]|$)",
    ),
    ("smuggling", r"[\U000e0020-\U000e007e]{4,}"),
)
_PATTERNS: tuple[tuple[InjectionKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rule, re.IGNORECASE)) for kind, rule in _RULES
)
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_SENTENCE_START = re.compile(r"(?:^|[\n.!?>|\"])[^\n.!?>|\"]*$")


@dataclass(frozen=True, slots=True)
class Injection:
    """Text aimed at a model: the characters ``[start, end)`` with the payload that follows it.

    Attributes:
        kind: ``override`` (drop what you were told), ``dictation`` (say this), ``false_turn`` (a
            made-up end of the document or turn of a conversation), ``concealment`` (do not tell),
            ``smuggling`` (characters that cannot be seen).
    """

    kind: InjectionKind
    start: int
    end: int


@lru_cache(maxsize=1024)
def find_injections(text: str) -> tuple[Injection, ...]:
    """Find text aimed at a model, in order, overlapping finds joined.

    A find reaches from the start of its sentence to the end of its paragraph, where the payload
    stands, and no further than ``LONGEST_PAYLOAD_CHARACTERS``.
    """
    found = [
        Injection(kind, *_reach(text, match.start(), match.end()))
        for kind, pattern in _PATTERNS
        for match in pattern.finditer(text)
    ]
    joined: list[Injection] = []
    for each in sorted(found, key=lambda injection: (injection.start, -injection.end)):
        if joined and each.start < joined[-1].end:
            last = joined.pop()
            joined.append(Injection(last.kind, last.start, max(last.end, each.end)))
        else:
            joined.append(each)
    return tuple(joined)


def _reach(text: str, start: int, end: int) -> tuple[int, int]:
    opening = _SENTENCE_START.search(text, max(0, start - 200), start)
    if opening is not None:
        start = opening.start() + (0 if opening.start() == 0 else 1)
    closing = _PARAGRAPH_END.search(text, end)
    stop = len(text) if closing is None else closing.start()
    return start, min(stop, end + LONGEST_PAYLOAD_CHARACTERS)
