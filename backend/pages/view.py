"""One answer as the page shows it: order, marks and texts, computed without any markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from backend.citing.links import hosts_of
from backend.contract import AskResponse, Citation, RetrievedChunk
from backend.pages.chart import SpreadChart, VerdictChart, draw_spread, draw_verdict
from backend.pages.passage import show_passage
from backend.pages.ports import Spread
from backend.pages.reading import marks_of, to_the_end
from backend.pages.share import make_curl, make_markdown, trail_of
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
        quote: The words of the passage that carry the answer best; empty when it is not cited.
    """

    anchor: str
    chunk: RetrievedChunk | None
    citation: Citation | None
    text: Markup
    link: str
    place: str
    trail: tuple[str, ...]
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a conversation before the one that is shown."""

    ask_id: str
    question: str
    answer: str
    status: str


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
    turns: tuple[Turn, ...] = ()

    @property
    def passages(self) -> tuple[PassageView, ...]:
        """Every passage in the order of the page."""
        return (*self.cited, *self.read, *self.unread)


def view_answer(
    response: AskResponse,
    base_url: str,
    spread: Spread | None = None,
    turns: Sequence[Turn] = (),
) -> AnswerView:
    """Arrange one response for its page.

    Args:
        response: What the service answered or recorded.
        base_url: Address the page was reached at, for the commands to copy.
        spread: Labelled questions to show this one among; None for none.
        turns: The conversation before it, oldest first.
    """
    chunks = {chunk.chunk_id: chunk for chunk in response.retrieved_chunks}
    cited_ids = {citation.chunk_id for citation in response.citations}
    others = [chunk for chunk in response.retrieved_chunks if chunk.chunk_id not in cited_ids]
    if response.status != "answered":
        # Nothing was used: what matters of these passages is how near they came.
        others.sort(key=lambda chunk: -chunk.cosine)
    unsupported = _unsupported(response)
    return AnswerView(
        response=response,
        answer_html=_answer_html(response, unsupported),
        cited=tuple(_cited(response, citation, chunks) for citation in response.citations),
        read=tuple(_other(chunk) for chunk in others if chunk.read_by_agent),
        unread=tuple(_other(chunk) for chunk in others if not chunk.read_by_agent),
        unsupported_count=len(unsupported),
        chart=_chart(response),
        spread=spread,
        spread_chart=_spread_chart(response, spread),
        curl=make_curl(response, base_url),
        markdown=make_markdown(response, base_url),
        turns=tuple(turns),
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
    threshold = response.guard.threshold if response.guard.threshold_kind == "cosine" else None
    return draw_spread(best, spread.answerable, spread.unanswerable, threshold)


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


def _cited(
    response: AskResponse, citation: Citation, chunks: dict[str, RetrievedChunk]
) -> PassageView:
    chunk = chunks.get(citation.chunk_id)
    if chunk is None:
        text = escape(citation.quote)
        trail = trail_of(citation.title, "", citation.section_heading)
    else:
        marks = marks_of(response, chunk, citation.number)
        text = show_passage(chunk.text, marks, given=chunk.given)
        trail = trail_of(chunk.title, chunk.parent_heading, chunk.section_heading)
    return PassageView(
        anchor=f"c-{citation.number}",
        chunk=chunk,
        citation=citation,
        text=text,
        link=safe_link(citation.source_url),
        place=local_path(citation.source_url) or citation.source_url,
        trail=trail,
        quote=_quote(citation, chunk),
    )


def _quote(citation: Citation, chunk: RetrievedChunk | None) -> str:
    if chunk is None or citation.span is None:
        return citation.quote
    return chunk.text[citation.span.start : to_the_end(chunk.text, citation.span.end)]


def _other(chunk: RetrievedChunk) -> PassageView:
    return PassageView(
        anchor=f"p-{chunk.fused_rank}",
        chunk=chunk,
        citation=None,
        text=show_passage(chunk.text, given=chunk.given),
        link=safe_link(chunk.source_url),
        place=local_path(chunk.source_url) or chunk.source_url,
        trail=trail_of(chunk.title, chunk.parent_heading, chunk.section_heading),
    )
