"""One answer as the page shows it: order, marks and texts, computed without any markup."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup, escape

from backend.citing.links import hosts_of
from backend.contract import AskResponse, Citation, RetrievedChunk
from backend.pages.chart import SpreadChart, VerdictChart, draw_spread, draw_verdict
from backend.pages.passage import show_passage
from backend.pages.ports import Spread
from backend.rendering import local_path, render_answer, safe_link


@dataclass(frozen=True, slots=True)
class PassageView:
    """One passage in the inspector.

    Attributes:
        anchor: Element id; ``c-n`` for a citation, so that markers reach it.
        text: The passage, with the words that support the answer marked and those that were not
            put before the agent struck out.
        link: Address of the original, empty when it is nothing to click on.
        place: What is shown of an address that is no link: a local file's source and path.
        trail: Title and headings, outermost first, without repetition.
    """

    anchor: str
    chunk: RetrievedChunk | None
    citation: Citation | None
    text: Markup
    link: str
    place: str
    trail: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerView:
    """What the template of an answer reads."""

    response: AskResponse
    answer_html: Markup
    cited: tuple[PassageView, ...]
    read: tuple[PassageView, ...]
    unread: tuple[PassageView, ...]
    unsupported_count: int
    chart: VerdictChart
    spread: Spread | None
    spread_chart: SpreadChart | None
    curl: str
    markdown: str

    @property
    def passages(self) -> tuple[PassageView, ...]:
        """Every passage in the order of the page."""
        return (*self.cited, *self.read, *self.unread)


def view_answer(response: AskResponse, base_url: str, spread: Spread | None = None) -> AnswerView:
    """Arrange one response for its page.

    Args:
        response: What the service answered or recorded.
        base_url: Address the page was reached at, for the commands to copy.
        spread: Labelled questions to show this one among; None for none.
    """
    chunks = {chunk.chunk_id: chunk for chunk in response.retrieved_chunks}
    cited_ids = {citation.chunk_id for citation in response.citations}
    others = [chunk for chunk in response.retrieved_chunks if chunk.chunk_id not in cited_ids]
    unsupported = _unsupported(response)
    return AnswerView(
        response=response,
        answer_html=_answer_html(response, unsupported),
        cited=tuple(_cited(citation, chunks) for citation in response.citations),
        read=tuple(_other(chunk) for chunk in others if chunk.read_by_agent),
        unread=tuple(_other(chunk) for chunk in others if not chunk.read_by_agent),
        unsupported_count=len(unsupported),
        chart=_chart(response),
        spread=spread,
        spread_chart=_spread_chart(response, spread),
        curl=make_curl(response, base_url),
        markdown=make_markdown(response, base_url),
    )


def _chart(response: AskResponse) -> VerdictChart:
    guard = response.guard
    if guard.threshold_kind == "probability":
        return draw_verdict(guard.threshold, guard.probability)
    cosines = [chunk.cosine for chunk in response.retrieved_chunks]
    return draw_verdict(guard.threshold, guard.best_cosine, cosines)


def _spread_chart(response: AskResponse, spread: Spread | None) -> SpreadChart | None:
    best = response.guard.best_cosine
    if spread is None or best is None or spread.embedding_model != response.index.embedding_model:
        return None
    return draw_spread(best, spread.answerable, spread.unanswerable)


def _answer_html(response: AskResponse, unsupported: tuple[str, ...]) -> Markup:
    if response.status != "answered":
        return Markup("<p>{}</p>").format(response.answer)
    html = render_answer(
        response.answer,
        numbers=[citation.number for citation in response.citations],
        unsupported=unsupported,
        hosts=hosts_of(chunk.source_url for chunk in response.retrieved_chunks),
    )
    return Markup(html)  # noqa: S704 - sanitised by render_answer


def _unsupported(response: AskResponse) -> tuple[str, ...]:
    if response.abstained:
        return ()
    return tuple(
        sentence.text.strip()
        for sentence in response.sentences
        if sentence.factual and not sentence.verified
    )


def _cited(citation: Citation, chunks: dict[str, RetrievedChunk]) -> PassageView:
    chunk = chunks.get(citation.chunk_id)
    if chunk is None:
        text = escape(citation.quote)
        trail = _trail(citation.title, "", citation.section_heading)
    else:
        text = show_passage(chunk.text, mark=citation.span, given=chunk.given)
        trail = _trail(chunk.title, chunk.parent_heading, chunk.section_heading)
    return PassageView(
        anchor=f"c-{citation.number}",
        chunk=chunk,
        citation=citation,
        text=text,
        link=safe_link(citation.source_url),
        place=local_path(citation.source_url) or citation.source_url,
        trail=trail,
    )


def _other(chunk: RetrievedChunk) -> PassageView:
    return PassageView(
        anchor=f"p-{chunk.fused_rank}",
        chunk=chunk,
        citation=None,
        text=show_passage(chunk.text, given=chunk.given),
        link=safe_link(chunk.source_url),
        place=local_path(chunk.source_url) or chunk.source_url,
        trail=_trail(chunk.title, chunk.parent_heading, chunk.section_heading),
    )


def _trail(*parts: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))


def make_curl(response: AskResponse, base_url: str) -> str:
    """Return a command that asks the same question again."""
    body = json.dumps({"question": response.question}, ensure_ascii=False)
    return (
        f"curl -s {shlex.quote(base_url.rstrip('/') + '/ask')} "
        f"-H 'content-type: application/json' -d {shlex.quote(body)}"
    )


def make_markdown(response: AskResponse, base_url: str) -> str:
    """Return question, answer and references as Markdown to paste elsewhere.

    A reference to a local file names its path and leads to the passage in these pages.
    """
    lines = [f"**{response.question}**", "", response.answer]
    if response.citations:
        here = base_url.rstrip("/")
        lines += ["", *(_reference(citation, here) for citation in response.citations)]
    return "\n".join(lines) + "\n"


def _reference(citation: Citation, here: str) -> str:
    heading = ", ".join(_trail(citation.title, citation.section_heading))
    link, path = safe_link(citation.source_url), local_path(citation.source_url)
    if path:
        heading, link = f"{heading} ({path})", f"{here}/sources/{quote(citation.chunk_id, safe='')}"
    return f"[{citation.number}] {heading}" + (f" <{link}>" if link else "")
