"""An agent's raw text without what may never be shown, before any claim in it is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.contract import Evidence
from backend.citing.citations_edit import without_sentences, without_source_list
from backend.citing.links import hosts_of, with_inert_links, without_unknown_addresses
from backend.citing.markers import keep_markers
from backend.citing.taint import Taint, repeats_injection, taint_of
from prose.sentences import split_sentences

_PASSES = 50  # a bound for a loop that ends by itself: each pass takes something out


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text fit to be checked.

    Attributes:
        text: Its markers name received evidence; its links lead to indexed hosts.
        removed_markers: Numbers outside the evidence, in order, with repetitions.
        injected: Sentences taken out because they only repeat text aimed at the model.
        is_suspect: Whether its author obeyed a passage or gave an address that no evidence has.
    """

    text: str
    removed_markers: tuple[int, ...]
    injected: tuple[str, ...]
    is_suspect: bool


def clean(raw_text: str, evidence: Sequence[Evidence]) -> Cleaned:
    """Take out foreign markers, links elsewhere, unknown addresses and what injections say.

    What one step takes out can leave work for another, so they are repeated until nothing changes.
    """
    numbers = {item.number for item in evidence}
    hosts = hosts_of(item.source_url for item in evidence)
    known = "\n".join(f"{item.source_url}\n{item.text}" for item in evidence)
    taint = taint_of(part for e in evidence for part in (e.text, e.title, e.section_heading))
    text, removed, is_suspect = raw_text.strip(), list[int](), False
    injected: list[str] = []
    for _ in range(_PASSES):
        before = text
        kept = keep_markers(without_source_list(text), numbers)
        removed += kept.removed
        inert = without_unknown_addresses(with_inert_links(kept.text, hosts), known)
        is_suspect = is_suspect or inert != kept.text
        text = keep_markers(inert, numbers).text.strip()
        if text == before:
            text, taken = _without_injections(text, taint)
            injected += taken
        if text == before:
            break
    return Cleaned(text, tuple(removed), tuple(injected), is_suspect or bool(injected))


def _without_injections(text: str, taint: Taint) -> tuple[str, tuple[str, ...]]:
    sentences = split_sentences(text)
    repeated = {i for i, each in enumerate(sentences) if repeats_injection(each.text, taint)}
    if not repeated:
        return text, ()
    taken = tuple(sentences[index].text for index in sorted(repeated))
    return without_sentences(text, sentences, repeated), taken
