"""Chosen units as Markdown: verbatim words, one citation each, code kept whole."""

from __future__ import annotations

import re
import textwrap

from agent.fit import Candidate
from agent.units import Companion, Unit

_LINK = re.compile(r"!?\[([^\]\[]*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)")
# Already code or bold in the source's own Markdown: left alone.
_MARKED = re.compile(r"(`+[^`]+`+|(?<![\w*])\*\*[^\s*][^*]*[^\s*]\*\*(?![\w*]))")
# What Markdown, HTML or the citation reader would take for markup.
_ACTIVE = re.compile(r"__|\*\*|\\|<(?=[\w/!?])|\[|~~|(?<=\w)\*(?=\w)")
_EXPRESSION = re.compile(
    r"\"(?P<quoted>[^\"\s][^\"]{0,120}?)\""
    r"|(?P<call>[\w.*]+\([^()]{0,80}\))"
    r"|(?P<word>(?<!\S)[(“]?\S+)"
)


def quote(chosen: tuple[Candidate, ...]) -> str:
    """Return the answer: each unit followed by ``[n]``, code and lists under their sentence."""
    shown: set[tuple[int, str]] = set()
    parts: list[str] = []
    for each in chosen:
        place = (each.passage.number, each.unit.names.signature)
        parts.append(_render(each, is_first=place not in shown))
        shown.add(place)
    return "\n\n".join(parts)


def _render(candidate: Candidate, *, is_first: bool) -> str:
    unit, number = candidate.unit, candidate.passage.number
    if unit.kind == "code":
        return f"{_fence(unit.text)}\n\n[{number}]"
    name = _name(unit) if is_first else ""
    sentence = f"{name}{inline(unit.text)} [{number}]"
    return sentence + (_companion(unit.companion, number) if unit.companion else "")


def _name(unit: Unit) -> str:
    """Name what a definition's sentence is about, when the sentence itself does not."""
    signature = unit.names.signature
    if not signature or "\n" in signature or unit.kind == "row":
        return ""
    name = signature.split("(")[0].split(".")[-1].split(" ")[-1]
    if name and name in unit.text:
        return ""
    return (
        f"`{signature}`: "
        if "(" in signature and "`" not in signature
        else f"{inline(signature)}: "
    )


def _companion(companion: Companion, number: int) -> str:
    if companion.kind == "code":
        return "\n\n" + _fence(companion.parts[0])
    return "\n\n" + "\n".join(f"- {inline(part)} [{number}]" for part in companion.parts)


def _fence(code: str) -> str:
    lines = code.strip("\n").splitlines()
    if lines and lines[0].lstrip().startswith(("```", "~~~")):
        return textwrap.dedent(code.strip("\n"))
    mark = "```" if "```" not in code else "~~~~"
    return f"{mark}\n{textwrap.dedent(code.strip(chr(10)))}\n{mark}"


def inline(text: str) -> str:
    """Return prose as Markdown that shows exactly its words.

    Links keep their words and lose their address; what would be read as markup or as a citation
    becomes a code span, in place of the quotation marks that some formats put around code.
    """
    pieces = _MARKED.split(_LINK.sub(r"\1", text))
    return "".join(
        piece if place % 2 else _EXPRESSION.sub(_protect, piece)
        for place, piece in enumerate(pieces)
    )


def _protect(found: re.Match[str]) -> str:
    quoted, call = found.group("quoted"), found.group("call")
    whole = found.group()
    if not _ACTIVE.search(whole) or "`" in whole:
        return whole
    if quoted or call:
        return f"`{quoted or call}`"
    core = whole.strip('(“”".,;:!?')
    core += ")" if core.count("(") > core.count(")") and f"{core})" in whole else ""
    before, _, after = whole.partition(core)
    return f"{before}`{core}`{after}" if core else whole
