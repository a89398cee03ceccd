"""From the raw text of an agent to an answer whose every citation was checked.

Only evidence the agent received can be cited. Numbers are ids and are never renumbered. What the
check finds is shown or acted on by the policy; nothing is taken on the author's word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.contract import Evidence
from agent.given import in_stored
from backend.citing.citations_clean import clean
from backend.citing.citations_edit import with_markers, without_sentences
from backend.citing.factual import is_factual
from backend.citing.markers import find_markers, keep_markers
from backend.contract import Citation, SentenceView, Span
from backend.support.check import VERIFIED_SUPPORT, Support, support, without_markers
from prose.sentences import Sentence, split_sentences

Policy = Literal["mark", "drop", "refuse"]


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """An answer after the check.

    Attributes:
        text: What may be shown; every marker in it is ``[n]`` and names received evidence.
        citations: One for each number in the text, by number.
        sentences: Every sentence of the text, as checked.
        removed_markers: Numbers outside the received evidence, in order, with repetitions.
        dropped: Sentences taken out of the text by the policy.
        injected: Sentences taken out because they only repeat text aimed at the model.
        attributed: Whether the markers were put in by the check, the author having set none.
        supported: False: nothing may be shown, the caller refuses.
    """

    text: str
    citations: tuple[Citation, ...]
    sentences: tuple[SentenceView, ...]
    removed_markers: tuple[int, ...]
    dropped: tuple[str, ...] = ()
    injected: tuple[str, ...] = ()
    attributed: bool = False
    supported: bool = True


@dataclass(frozen=True, slots=True)
class _Checked:
    """A sentence with its support by each cited passage and by all of them together."""

    sentence: Sentence
    factual: bool
    by_number: Mapping[int, Support]
    together: float

    @property
    def is_verified(self) -> bool:
        return self.together >= VERIFIED_SUPPORT


def cite(raw_text: str, evidence: Sequence[Evidence], policy: Policy = "mark") -> CitedAnswer:
    """Check an answer against the evidence its author received.

    Args:
        raw_text: The text as written, citing evidence as ``[n]``.
        evidence: Every passage received, numbered; one of which nothing was put before the
            author cannot be cited.
        policy: What becomes of claims without support: ``mark`` shows them as such, ``drop`` takes
            them out, ``refuse`` also gives up the answer when its first claim is one of them.

    Returns:
        The answer. With ``supported`` false nothing in the evidence bears it out.
    """
    evidence = [item for item in evidence if item.text]
    passages = {item.number: item for item in evidence}
    settled = _settle(raw_text, evidence, policy)
    citations = _citations(settled.checked, passages)
    return CitedAnswer(
        text=settled.text,
        citations=citations,
        sentences=tuple(_view(each) for each in settled.checked),
        removed_markers=settled.removed_markers,
        dropped=settled.dropped,
        injected=settled.injected,
        attributed=settled.attributed and bool(citations),
        supported=_is_supported(settled.checked, passages, policy, is_suspect=settled.is_suspect),
    )


@dataclass(frozen=True, slots=True)
class _Settled:
    """A text that citing once more would not change, with what was taken out on the way to it."""

    text: str
    checked: tuple[_Checked, ...]
    removed_markers: tuple[int, ...]
    dropped: tuple[str, ...]
    injected: tuple[str, ...]
    attributed: bool
    is_suspect: bool


def _settle(raw_text: str, evidence: Sequence[Evidence], policy: Policy) -> _Settled:
    """Clean, attribute, check and drop until nothing is left to do.

    What is dropped may have held the only marker, or have kept what follows from being read as one:
    what stays is cleaned and attributed again. Every round but the last takes a sentence out.
    """
    passages = {item.number: item for item in evidence}
    text, attributed, is_suspect = raw_text, False, False
    removed, dropped, injected = list[int](), list[str](), list[str]()
    while True:
        cleaned = clean(text, evidence)
        text = cleaned.text
        removed += cleaned.removed_markers
        injected += cleaned.injected
        is_suspect = is_suspect or cleaned.is_suspect
        if not find_markers(text):
            text, attributed = _attribute(text, evidence), True
        checked = _check(text, passages)
        unsupported = {i for i, each in enumerate(checked) if each.factual and not each.is_verified}
        if policy != "drop" or not unsupported:
            return _Settled(
                *(text, tuple(checked), tuple(removed), tuple(dropped), tuple(injected)),
                attributed=attributed,
                is_suspect=is_suspect,
            )
        dropped += [checked[i].sentence.text for i in sorted(unsupported)]
        text = without_sentences(text, [each.sentence for each in checked], unsupported)


def _attribute(text: str, evidence: Sequence[Evidence]) -> str:
    """Put a marker at every claim that some passage supports.

    Where cleaning would take the markers out again they are not put in.
    """
    sentences = split_sentences(text)
    numbers: dict[int, list[int]] = {}
    for index, sentence in enumerate(sentences):
        if not is_factual(sentence):
            continue
        best = max(((_judge(sentence, e), -e.number) for e in evidence), key=_rank, default=None)
        if best is not None and best[0].verified:
            numbers[index] = [-best[1]]
    marked = with_markers(text, sentences, numbers)
    return marked if clean(marked, evidence).text == marked else text


def _rank(judged: tuple[Support, int]) -> tuple[float, int]:
    return judged[0].support, judged[1]


def _judge(sentence: Sentence, passage: Evidence) -> Support:
    return support(sentence.text, passage.text, f"{passage.title}\n{passage.section_heading}")


def _check(text: str, passages: Mapping[int, Evidence]) -> list[_Checked]:
    checked: list[_Checked] = []
    below: _Checked | None = None
    # Found in the whole: what is no marker there, in code or an address, looks like one alone.
    markers = find_markers(text)
    for sentence in reversed(_joined(text, split_sentences(text))):
        inside = [m for m in markers if sentence.start <= m.start < sentence.end]
        numbers = dict.fromkeys(n for marker in inside for n in marker.numbers)
        each = _check_sentence(sentence, [passages[n] for n in numbers if n in passages])
        if not each.by_number and below and _shares_block(text, sentence, below.sentence):
            # One marker often stands for the whole paragraph before it.
            shared = _check_sentence(sentence, [passages[n] for n in below.by_number])
            each = shared if shared.is_verified else each
        checked.append(each)
        below = each if each.by_number else None
    return checked[::-1]


def _check_sentence(sentence: Sentence, cited: Sequence[Evidence]) -> _Checked:
    by_number = {passage.number: _judge(sentence, passage) for passage in cited}
    together = max((each.support for each in by_number.values()), default=0.0)
    if len(by_number) > 1:
        together = max(together, _support_of_all(sentence, cited))
    return _Checked(sentence, is_factual(sentence), by_number, together)


def _shares_block(text: str, sentence: Sentence, following: Sentence) -> bool:
    return "\n\n" not in text[sentence.end : following.start]


def _joined(text: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Join a sentence that is nothing but markers to the one before it."""
    joined: list[Sentence] = []
    for sentence in sentences:
        alone = sentence.text.strip(".,; ")
        if joined and alone and keep_markers(alone, frozenset()).text.strip(".,; ") == "":
            start = joined.pop().start
            joined.append(Sentence(start, sentence.end, text[start : sentence.end]))
        else:
            joined.append(sentence)
    return joined


def _support_of_all(sentence: Sentence, passages: Sequence[Evidence]) -> float:
    """Support by several passages read as one, for a sentence that sums them up."""
    context = "\n".join(f"{p.title}\n{p.section_heading}" for p in passages)
    return support(sentence.text, "\n\n".join(p.text for p in passages), context).support


def _is_supported(
    checked: Sequence[_Checked],
    passages: Mapping[int, Evidence],
    policy: Policy,
    *,
    is_suspect: bool,
) -> bool:
    """Whether anything may be shown: some cited words, proven ones in a suspect answer.

    An answer in which no passage bears out the least part of any cited claim is invented, whatever
    the policy: a marker alone vouches for nothing.
    """
    cited = [each for each in checked if each.by_number and _has_words(each.sentence)]
    if is_suspect and not any(each.is_verified for each in cited):
        return False
    claims = [each for each in cited if each.factual]
    if claims and not any(_has_support(each) for each in claims):
        return False
    return bool(cited) and not (policy == "refuse" and _lacks_main(checked, passages))


def _has_support(each: _Checked) -> bool:
    return each.together > 0 or any(found.support > 0 for found in each.by_number.values())


def _has_words(sentence: Sentence) -> bool:
    return any(char.isalnum() for char in without_markers(sentence.text))


def _lacks_main(checked: Sequence[_Checked], passages: Mapping[int, Evidence]) -> bool:
    """Whether the first claim of the answer is borne out by none of the passages cited in it."""
    main = next((each for each in checked if each.factual), None)
    if main is None or main.is_verified:
        return main is None
    cited = dict.fromkeys(n for each in checked for n in each.by_number)
    return not any(_judge(main.sentence, passages[n]).verified for n in cited)


def _citations(
    checked: Sequence[_Checked], passages: Mapping[int, Evidence]
) -> tuple[Citation, ...]:
    best: dict[int, Support] = {}
    for each in checked:
        for number, found in each.by_number.items():
            if number not in best or found.support > best[number].support:
                best[number] = found
    return tuple(_citation(passages[number], best[number]) for number in sorted(best))


def _citation(passage: Evidence, found: Support) -> Citation:
    span = None if found.span is None else in_stored(passage, found.span)
    return Citation(
        number=passage.number,
        chunk_id=passage.chunk_id,
        source_url=passage.source_url,
        title=passage.title,
        section_heading=passage.section_heading,
        quote=found.quote,
        span=None if span is None else Span(start=span[0], end=span[1]),
        support=found.support,
        verified=found.verified,
    )


def _view(each: _Checked) -> SentenceView:
    return SentenceView(
        text=each.sentence.text,
        span=Span(start=each.sentence.start, end=each.sentence.end),
        numbers=tuple(each.by_number),
        support=each.together if each.by_number else None,
        verified=each.is_verified,
        factual=each.factual,
    )
