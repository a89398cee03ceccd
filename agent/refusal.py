"""Tells a refusal from an answer. Pure, and conservative: a doubtful text is an answer.

The fixed sentence as the whole text is a refusal, and so is a short text that only says, in a
model's own words, that the documentation does not tell. A cited answer with a reservation is not.
"""

from __future__ import annotations

import re
import unicodedata

_REASONING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_ORPHAN_REASONING = re.compile(r"\A.*?</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_WRITTEN_CALL = re.compile(r"<tool_call>.*?(?:</tool_call>|\Z)", re.DOTALL)
_NOT_FOUND = re.compile(r"^\W*not found:[\s*_]*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)
_MARKER = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]")
_NOTHING = re.compile(r"^(?:none|nothing|n/?a|-)?\W*$", re.IGNORECASE)
_QUOTES = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "`": "'"})

_SOURCE = (
    r"(?:the |these |this |any |provided |given |available |received |supplied |indexed |above |"
    r"your |my )*(?:evidence|documentation|docs|passages?|context|sources?|documents?|text|"
    r"information|knowledge base|excerpts?|search results?|material)"
)
_LACKS = (
    r"(?:do(?:es)? not|don't|doesn't|did not|didn't) (?:appear to |seem to |explicitly |directly |"
    r"actually )*(?:contain|mention|say|tell|provide|include|address|answer|cover|specify|discuss|"
    r"describe|state|explain|give|have)"
)
_OWN_WORDS = re.compile(
    r"\b(?:i|we) (?:am |'m |was |were )?(?:sorry,? (?:but )?(?:i )?)?"
    r"(?:can ?not|can't|could not|couldn't|(?:am |was |'m )?unable to|did not|didn't|do not|don't)"
    r" (?:seem to |be able to )?(?:find|locate|answer|determine|see|have (?:any |enough |the |"
    r"sufficient )*(?:information|evidence|context))"
    rf"|\b{_SOURCE} {_LACKS}"
    rf"|\b(?:there is|there's) no (?:\w+ ){{0,3}}(?:in|about|on|for|within) {_SOURCE}"
    r"|\b(?:there is|there's) (?:no|not enough|insufficient) (?:relevant |such |specific )*"
    r"(?:information|evidence|mention|documentation)"
    rf"|\b(?:is|are|was|were) not (?:found|mentioned|covered|answered|addressed|specified|described"
    rf"|available|documented|discussed) (?:in|by) {_SOURCE}"
    r"|\bno (?:relevant |specific )?(?:information|evidence|passages?)"
    r" (?:was|were|is|are|about|on)",
    re.IGNORECASE,
)
_OWN_WORDS_CHARACTERS = 400
_OWN_WORDS_SENTENCES = 3


def clean(text: str) -> str:
    """Remove a model's reasoning and tool calls written as text."""
    text = _REASONING.sub("", text)
    text = _ORPHAN_REASONING.sub("", text)
    return _WRITTEN_CALL.sub("", text).strip()


def take_not_found(text: str) -> tuple[str, tuple[str, ...]]:
    """Split the "Not found:" lines off an answer.

    Returns:
        The answer without them, and what each names; "Not found: nothing" names nothing.
    """
    named = tuple(part for part in _NOT_FOUND.findall(text) if not _NOTHING.match(part))
    return _NOT_FOUND.sub("", text).strip(), named


def is_refusal(text: str, abstention_sentence: str) -> bool:
    """Whether a text refuses: nothing at all, the fixed sentence, or the same in other words."""
    bare = _normalise(_MARKER.sub("", text))
    if not bare or bare == _normalise(abstention_sentence):
        return True
    return _refuses_in_own_words(text)


def _refuses_in_own_words(text: str) -> bool:
    plain = " ".join(text.translate(_QUOTES).split())
    sentences = [each for each in re.split(r"(?<=[.!?])\s+", plain) if each]
    if len(plain) > _OWN_WORDS_CHARACTERS or len(sentences) > _OWN_WORDS_SENTENCES:
        return False
    refusing = [bool(_OWN_WORDS.search(sentence)) for sentence in sentences]
    if not any(refusing):
        return False
    answers = [
        sentence
        for sentence, is_refusing in zip(sentences, refusing, strict=True)
        if not is_refusing and _MARKER.search(sentence)
    ]
    return not answers and "```" not in text


def _normalise(text: str) -> str:
    """Fold case, quotes, blanks and surrounding punctuation away."""
    folded = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    return re.sub(r"\s+", " ", folded).strip(" \"'*_.!>#-")
