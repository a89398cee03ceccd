"""An answer as a chat completion, whole or as a stream. Nothing is decided here."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from datetime import datetime

from pydantic import JsonValue

from backend.api.completions_errors import error_body
from backend.api.completions_wire import (
    MODEL,
    Annotation,
    Choice,
    Completion,
    ReplyMessage,
    UrlCitation,
    Usage,
    VouchField,
)
from backend.citing.markers import find_markers
from backend.contract import AskResponse, Citation
from backend.events import Done, StageEvent
from backend.problems import Problem, describe_error
from backend.rendering import safe_link
from service.errors import VouchError
from service.logs import get_logger

_logger = get_logger(__name__)
_END = b"data: [DONE]\n\n"


def to_completion(response: AskResponse) -> Completion:
    """Return a response as a chat completion; a refusal is its fixed sentence, ended normally."""
    content, annotations = write_content(response)
    tokens = response.agent.tokens
    prompt, completion = tokens.get("prompt", 0), tokens.get("completion", 0)
    return Completion(
        id=f"chatcmpl-{response.id}",
        created=int(datetime.fromisoformat(response.created_at).timestamp()),
        choices=(Choice(message=ReplyMessage(content=content, annotations=annotations)),),
        usage=Usage(
            prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion
        ),
        vouch=VouchField(
            ask_id=response.id,
            status=response.status,
            abstained=response.abstained,
            reason=response.abstention.reason if response.abstention else None,
            detail=response.abstention.detail if response.abstention else "",
            search_question=response.search_question,
            best_cosine=response.guard.best_cosine,
            threshold=response.guard.threshold,
            fidelity=response.fidelity.verdict,
            degraded=response.degraded,
            proposals=response.proposals,
        ),
    )


def write_content(response: AskResponse) -> tuple[str, tuple[Annotation, ...]]:
    """Return the text with citations as Markdown footnotes, and each marker's place in it."""
    if response.status == "needs_clarification":
        return "\n".join((response.answer, "", *(f"- {text}" for text in response.proposals))), ()
    known = {citation.number: citation for citation in response.citations}
    text = ""
    annotations: list[Annotation] = []
    position = 0
    for marker in find_markers(response.answer):
        text += response.answer[position : marker.start]
        position = marker.end
        for number in marker.numbers:
            start = len(text)
            text += f"[^{number}]"
            if number in known:
                annotations.append(_annotate(known[number], start, len(text)))
    text += response.answer[position:]
    notes = [_footnote(citation) for citation in response.citations]
    return "\n\n".join((text, *notes)), tuple(annotations)


async def stream_completion(
    first: StageEvent, rest: AsyncIterator[StageEvent], *, has_usage: bool
) -> AsyncGenerator[bytes]:
    """Yield a completion's chunks. Until the answer is decided only comments keep the line open.

    Args:
        first: The first stage, taken before the response began.
        rest: The stages after it.
        has_usage: Whether a last chunk says how many tokens were used.
    """
    yield _comment(first)
    try:
        async for event in rest:
            if not isinstance(event, Done):
                yield _comment(event)
                continue
            for chunk in to_chunks(to_completion(event.response), has_usage=has_usage):
                yield _encode(chunk)
    except VouchError as error:
        yield _encode_problem(describe_error(error))
    except Exception:
        _logger.exception("a stream of a completion broke")
        problem = Problem(title="Internal error", status=500, code=VouchError.code)
        yield _encode_problem(problem)
    yield _END


def to_chunks(completion: Completion, *, has_usage: bool) -> list[dict[str, JsonValue]]:
    """Return a completion as the chunks of a stream; its text is in one, so no marker is split."""
    message = completion.choices[0].message.model_dump(mode="json", exclude={"refusal"})
    head: dict[str, JsonValue] = {
        "id": completion.id,
        "object": "chat.completion.chunk",
        "created": completion.created,
        "model": MODEL,
    }
    chunks: list[dict[str, JsonValue]] = [
        {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {
            **head,
            "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
            "vouch": completion.vouch.model_dump(mode="json"),
        },
    ]
    if has_usage:
        usage = completion.usage.model_dump(mode="json")
        chunks.append({**head, "choices": [], "usage": usage})
    return chunks


def _annotate(citation: Citation, start: int, end: int) -> Annotation:
    return Annotation(
        url_citation=UrlCitation(
            start_index=start,
            end_index=end,
            url=safe_link(citation.source_url),
            title=_name(citation),
            number=citation.number,
            chunk_id=citation.chunk_id,
            quote=citation.quote,
            support=citation.support,
            verified=citation.verified,
        )
    )


def _footnote(citation: Citation) -> str:
    link = safe_link(citation.source_url)
    return f"[^{citation.number}]: {_escape(_name(citation))}" + (f" <{link}>" if link else "")


def _name(citation: Citation) -> str:
    parts = dict.fromkeys(filter(None, (citation.title, citation.section_heading)))
    return " › ".join(parts) or citation.chunk_id


def _escape(text: str) -> str:
    """Return a title that no Markdown reader takes for markup or for a link."""
    plain = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>()!#|~&" else sign for sign in plain)


def _comment(event: StageEvent) -> bytes:
    return f": {type(event).__name__}\n\n".encode()


def _encode_problem(problem: Problem) -> bytes:
    body = error_body(
        title=problem.title, detail=problem.detail, status=problem.status, code=problem.code
    )
    return _encode(body)


def _encode(body: dict[str, JsonValue]) -> bytes:
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode()
