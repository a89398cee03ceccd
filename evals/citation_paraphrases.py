"""Rephrasings that leave a documentation sentence true: what a citation check must accept.

Each rule returns the rephrased sentence, or None where it does not apply. As with the changes, the
word lists are the evaluation's own.
"""

from __future__ import annotations

import re
from random import Random

_SYNONYMS: dict[str, tuple[str, ...]] = {
    "use": ("make use of", "employ", "work with"),
    "uses": ("makes use of", "employs"),
    "using": ("with the help of", "employing", "by means of"),
    "help": ("assist", "support"),
    "helps": ("assists",),
    "ensure": ("make sure", "see to it"),
    "provide": ("offer", "supply"),
    "provides": ("offers", "supplies"),
    "create": ("make", "set up"),
    "creating": ("making",),
    "allows": ("lets", "makes it possible for"),
    "large": ("big", "sizeable"),
    "many": ("numerous", "a lot of"),
    "important": ("essential", "crucial"),
    "information": ("details", "data"),
    "however": ("but", "still"),
    "example": ("instance",),
    "get": ("obtain", "receive"),
    "such as": ("like", "for instance"),
    "different": ("distinct",),
    "specific": ("particular",),
    "several": ("a number of",),
    "following": ("next", "below"),
    "returns": ("gives back", "yields"),
    "contains": ("holds", "includes"),
    "called": ("named", "invoked"),
    "need to": ("have to",),
    "need": ("require",),
    "also": ("in addition", "too"),
    "when": ("whenever", "if"),
    "between": ("among",),
    "order": ("sequence",),
    "improve": ("enhance", "better"),
    "quickly": ("rapidly", "fast"),
    "choose": ("pick", "select"),
    "run": ("execute",),
    "install": ("set up",),
    "folder": ("directory",),
    "directory": ("folder",),
    "currently": ("at present", "at the moment"),
    "about": ("on", "regarding"),
    "only": ("just", "solely"),
    "result": ("outcome",),
    "method": ("approach", "technique"),
    "corresponding": ("matching",),
    "begin": ("start",),
    "used to": ("meant to",),
    "in order to": ("to",),
    "consists of": ("is made up of",),
    "executed": ("run", "carried out"),
    "defined": ("given", "specified"),
    "statement": ("instruction",),
    "argument": ("parameter",),
    "task": ("job",),
    "response": ("reply", "answer"),
    "prompt": ("instruction",),
    "customers": ("clients",),
    "text": ("wording",),
}
_CONTRACTIONS = (
    (r"\b(is|are|does|do|did|was|were|has|have|should|could|would) not\b", r"\1n't"),
    (r"\bcannot\b", "can't"),
    (r"\bwill not\b", "won't"),
    (r"\b([Yy]ou|[Ww]e|[Tt]hey) are\b", r"\1're"),
    (r"\b([Ii]t|[Tt]hat|[Tt]here) is\b", r"\1's"),
    (r"\b([Yy]ou|[Ww]e|[Tt]hey)[’']ll\b", r"\1 will"),
    (r"\b([Yy]ou|[Ww]e|[Tt]hey)[’']re\b", r"\1 are"),
    (r"\b([Ii]t|[Tt]hat|[Tt]here)[’']s\b", r"\1 is"),
    (r"\b(is|are|does|do|did|was|were|has|have|should|could|would)n[’']t\b", r"\1 not"),
    (r"\bcan[’']t\b", "cannot"),
)
_INFLECTIONS = (
    (r"\bYou can (\w+)\b", r"It is possible to \1"),
    (r"\byou can (\w+)\b", r"one can \1"),
    (r"\bis (\w+ed) by\b", r"gets \1 by"),
    (r"\bto (\w{3,}[^e\W])\b(?= (?:the|a|your|an)\b)", r"for \1ing"),
    (r"\b(\w{3,}[^se\W])s that\b", r"\1 which"),
    (r"\b([Tt])his (\w+) is\b", r"\1hese \2s are"),
    (r"\b(a|an) (\w{4,}[^sy\W])\b(?= (?:that|which|to|in|of|for|with|from)\b|[.,])", r"\2s"),
    (r"\bwill be (\w+ed)\b", r"is \1"),
    (r"\bif you want to\b", "for those wanting to"),
)
_LEADING = re.compile(
    r"^(?P<lead>(?:If|When|To|By|For|In|With|After|Before|Once|While|Unless)\b[^,.;]{8,90}), "
    r"(?P<main>[^;]{12,})(?P<stop>[.!])$"
)
_TRAILING = re.compile(
    r"^(?P<main>[A-Z][^,;]{15,}?) (?P<tail>(?:if|when|by|after|before|unless|because|with|for|in) "
    r"[^,;]{10,})(?P<stop>[.!])$"
)
_SIDE_CLAUSE = re.compile(
    r",? (?:which|allowing|making|so that|including|such as) [^,;]{8,}(?=[.]$)"
)
_MAX_SYNONYMS = 3


def contract(sentence: str, random: Random) -> str | None:
    """Contract or spell out a verb form."""
    del random
    for pattern, replacement in _CONTRACTIONS:
        changed = re.sub(pattern, replacement, sentence, count=1)
        if changed != sentence:
            return changed
    return None


def replace_synonyms(sentence: str, random: Random) -> str | None:
    """Put synonyms in the place of up to three words."""
    words = random.sample(sorted(_SYNONYMS), len(_SYNONYMS))
    changed = 0
    for word in words:
        if changed == _MAX_SYNONYMS:
            break
        found = re.search(rf"(?<![\w`_-]){word}(?![\w`_-])", sentence)
        if found is not None:
            other = random.choice(_SYNONYMS[word])
            sentence = sentence[: found.start()] + other + sentence[found.end() :]
            changed += 1
    return sentence if changed else None


def reorder(sentence: str, random: Random) -> str | None:
    """Move a leading clause to the end, or a trailing one to the front."""
    del random
    leading = _LEADING.match(sentence)
    if leading is not None:
        main, lead = leading["main"], leading["lead"]
        return f"{_raised(main)} {_lowered(lead)}{leading['stop']}"
    trailing = _TRAILING.match(sentence)
    if trailing is not None:
        main, tail = trailing["main"], trailing["tail"]
        return f"{_raised(tail)}, {_lowered(main)}{trailing['stop']}"
    return None


def inflect(sentence: str, random: Random) -> str | None:
    """Change person, number or verb form."""
    for pattern, replacement in random.sample(_INFLECTIONS, len(_INFLECTIONS)):
        changed = re.sub(pattern, replacement, sentence, count=1)
        if changed != sentence:
            return changed
    return None


def shorten(sentence: str, random: Random) -> str | None:
    """Leave out a side clause at the end."""
    del random
    changed = _SIDE_CLAUSE.sub("", sentence, count=1)
    return changed if changed != sentence and len(changed.split()) > 5 else None  # noqa: PLR2004 - what is left must be a sentence


def combine(sentence: str, random: Random) -> str | None:
    """Apply every rule that applies, at least two of them."""
    changed = 0
    for rule in (reorder, contract, replace_synonyms, inflect):
        rephrased = rule(sentence, random)
        if rephrased is not None:
            sentence = rephrased
            changed += 1
    return sentence if changed > 1 else None


PARAPHRASES = {
    "contraction": contract,
    "synonyms": replace_synonyms,
    "word_order": reorder,
    "inflection": inflect,
    "shortened": shorten,
    "combined": combine,
}


def _raised(text: str) -> str:
    return text[0].upper() + text[1:]


def _lowered(text: str) -> str:
    first = text.split(maxsplit=1)[0]
    return text if first.isupper() or not first[1:].islower() else text[0].lower() + text[1:]
