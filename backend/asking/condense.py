"""Turns a follow-up into a question that can be searched for alone, by rule. Pure.

Only what was asked is carried over, never what was answered: what a conversation knows can widen a
search and cannot answer anything the guard refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from backend.asking.condense_forms import (
    find_ordinal,
    find_pronoun,
    first_of,
    has_subject,
    is_bare,
    is_clause,
    is_prepositional,
    list_options,
    put_in_place,
    says_no,
    says_yes,
    split_opening,
    starts_with_pronoun,
    strip_lead_in,
    subject_of,
    without_article,
    without_same_start,
)

Way = Literal["typed", "carried", "vague"]
_LONGEST_FRAGMENT_WORDS = 4
_LIMIT_CHARACTERS = 1000


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier question of a conversation.

    Attributes:
        question: As it was typed.
        search_question: As it was searched for; empty when that is not known.
        offered: What the page put up for choice after it, in order.
        has_asked_back: Whether it was met with a question instead of an answer.
    """

    question: str
    search_question: str = ""
    offered: tuple[str, ...] = ()
    has_asked_back: bool = False


@dataclass(frozen=True, slots=True)
class Condensation:
    """What to search for.

    Attributes:
        way: ``typed`` as it was typed, ``carried`` with words of earlier questions, ``vague`` when
            it names no subject and no earlier question does.
    """

    search_question: str
    way: Way


@dataclass(frozen=True, slots=True)
class _Thread:
    """What is being talked about.

    Attributes:
        root: The last question that stood alone.
        base: The root with the last alternative in it.
        focus: The last alternative ("what about *break*?").
        options: Things set side by side, for "the second one".
        is_open: Whether the last question was met with a question.
    """

    root: str
    base: str
    focus: str = ""
    options: tuple[str, ...] = ()
    is_open: bool = False


def condense(question: str, turns: Sequence[Turn] = ()) -> Condensation:
    """Return what to search for.

    Args:
        question: As it was typed.
        turns: Earlier questions of the conversation, oldest first.
    """
    thread: _Thread | None = None
    for turn in turns:
        condensed, thread = _take(turn.question, thread)
        if turn.search_question and turn.search_question != condensed.search_question:
            # Somebody changed what was searched for: that is what is being talked about.
            thread = _start(turn.search_question)
        if turn.offered and thread.options == ():
            thread = replace(thread, options=turn.offered)
        if turn.has_asked_back:
            thread = replace(thread, options=turn.offered, is_open=True)
    return _take(question, thread)[0]


def name_subject(question: str, subject: str) -> str:
    """Return a question with its pronoun replaced by what it stands for."""
    match = find_pronoun(question)
    if match is None:
        return f"{subject}: {question}"
    possessive = "'s" if match[0].casefold() in {"its", "their"} else ""
    return question[: match.start()] + subject + possessive + question[match.end() :]


def _take(question: str, thread: _Thread | None) -> tuple[Condensation, _Thread]:
    """Return what one question means in a thread, and the thread after it."""
    core = strip_lead_in(question)
    if thread is None:
        return _take_first(core, question)
    return _take_short(core, thread) or _take_next(core, question, thread)


def _take_short(core: str, thread: _Thread) -> tuple[Condensation, _Thread] | None:
    """Take a question that only chooses, agrees or wants more; None for any other."""
    if (chosen := _choose(core, thread)) is not None:
        # The choice is what is talked about now; what else could be chosen stays.
        carried = chosen if thread.is_open else _choice(chosen, core)
        return _carry(carried), _Thread(carried, carried, chosen, thread.options)
    if says_no(core):
        return Condensation(core, "vague"), replace(thread, is_open=True)
    if is_bare(core):
        return _carry(_more(core, thread)), replace(thread, is_open=False)
    return None


def _take_next(core: str, question: str, thread: _Thread) -> tuple[Condensation, _Thread]:
    is_addition, rest = split_opening(core)
    if thread.is_open and not is_clause(rest):
        named = name_subject(thread.root, without_article(rest))
        return _carry(named), _start(named)
    if _stands_alone(rest, is_addition=is_addition):
        return Condensation(rest if is_addition else question, "typed"), _start(rest)
    if is_clause(rest):
        return _carry(_complete(rest, thread)), thread
    base = _substitute(rest, thread)
    focus = "" if is_prepositional(rest) else without_article(rest)
    return _carry(base), replace(thread, base=base, focus=focus)


def _take_first(core: str, question: str) -> tuple[Condensation, _Thread]:
    is_addition, _ = split_opening(core)
    leans = starts_with_pronoun(core) or is_bare(core)
    is_fragment = is_addition and not is_clause(core)
    is_vague = leans or (is_fragment and not has_subject(core))
    return Condensation(question, "vague" if is_vague else "typed"), _start(core)


def _start(question: str) -> _Thread:
    return _Thread(root=question, base=question, options=list_options(question))


def _stands_alone(question: str, *, is_addition: bool) -> bool:
    if find_pronoun(question) is not None or find_ordinal(question) is not None:
        return False
    if is_clause(question):
        return has_subject(question)
    words = question.split()
    is_fragment = is_addition or question.endswith("?") or is_prepositional(question)
    return not is_fragment or (not is_addition and len(words) > _LONGEST_FRAGMENT_WORDS)


def _choose(question: str, thread: _Thread) -> str | None:
    """Return the option a question picks, or None when it picks none."""
    if thread.is_open and says_yes(question):
        return first_of(thread.options, 0)
    place = find_ordinal(question)
    return None if place is None else first_of(thread.options, place)


def _choice(chosen: str, question: str) -> str:
    """Return the chosen thing with whatever else the question says of it."""
    _, rest = split_opening(question)
    return f"{rest.strip(' ?')}: {chosen}?" if is_clause(rest) else f"What is {chosen}?"


def _more(question: str, thread: _Thread) -> str:
    """Return the last question again, with the word that asks for more of it."""
    asked = question.strip(" ?.!").casefold()
    wanted = [word for word in ("why", "when", "where", "how", "example") if word in asked.split()]
    return f"{wanted[0].capitalize()}: {thread.base}" if wanted else thread.base


def _complete(question: str, thread: _Thread) -> str:
    """Return a clause with its pronoun filled in and what it is about after it."""
    if not thread.focus or find_pronoun(question) is None:
        return f"{question.strip(' ?.!')}, {subject_of(thread.base)}?"
    filled = name_subject(question, thread.focus)
    # The alternative may stand before the question it was added to; once is enough.
    around = thread.root if thread.base.startswith(thread.focus) else thread.base
    return f"{filled.strip(' ?.!')}, {subject_of(around)}?"


def _substitute(fragment: str, thread: _Thread) -> str:
    """Return the last whole question with an alternative or a further condition in it."""
    phrase = fragment.strip(" ?.!,")
    root = thread.root.strip(" ?.!")
    if is_prepositional(phrase):
        return f"{without_same_start(root, phrase)} {phrase}?"
    replaced = put_in_place(root, without_article(phrase))
    return f"{replaced}?" if replaced else f"{phrase}, {root[:1].lower()}{root[1:]}?"


def _carry(search_question: str) -> Condensation:
    return Condensation(search_question[:_LIMIT_CHARACTERS], "carried")
