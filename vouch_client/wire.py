"""What both clients send, and how they read what comes back. No input or output happens here."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

import httpx

from vouch_client.errors import ProtocolError, UnreachableError, VouchClientError, problem_of
from vouch_client.replies import Reply, read_reply

DEFAULT_URL = "http://127.0.0.1:8000"
DEFAULT_TIMEOUT_SECONDS = 90.0
EVENT_STREAM = "text/event-stream"
_CONNECT_SECONDS = 5.0


def headers(key: str) -> dict[str, str]:
    """Return the headers of every request."""
    return {"authorization": f"Bearer {key}"} if key else {}


def timeouts(seconds: float) -> httpx.Timeout:
    """Return the deadlines of a request."""
    return httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))


def body_of(
    question: str, *, top_k: int, source: str, after: Reply | str | None, search_question: str
) -> dict[str, str | int]:
    """Return the body of an ask.

    Args:
        question: At most 2,000 characters.
        top_k: Passages wanted, 1 to 50.
        source: Only this source; empty: every source.
        after: What it follows up on: a reply, or the name of a conversation.
        search_question: Searched for instead of what the question comes to; empty for that.
    """
    body: dict[str, str | int] = {"question": question, "top_k": top_k}
    if source:
        body["source"] = source
    if after is not None:
        body["conversation_id"] = after if isinstance(after, str) else after.conversation
    if search_question:
        body["search_question"] = search_question
    return body


def path_of(ask_id: str) -> str:
    """Return where a reply is found again."""
    return f"/asks/{quote(ask_id, safe='')}"


def check(response: httpx.Response) -> None:
    """Raise what a failed response stands for; its body must have been read.

    Raises:
        VouchClientError: The response is none of success.
    """
    if not response.is_success:
        retry_after = response.headers.get("retry-after", "")
        raise problem_of(response.content, response.status_code, retry_after)


def reply_in(response: httpx.Response) -> Reply:
    """Return the reply of a response.

    Raises:
        VouchClientError: It holds none.
    """
    check(response)
    return read_reply(response.content)


def check_stream(response_headers: Mapping[str, str]) -> None:
    """Raise when what begins is no stream of events.

    Raises:
        ProtocolError: It is not.
    """
    if not response_headers.get("content-type", "").startswith(EVENT_STREAM):
        raise ProtocolError("no stream of events came back: is this a Vouch service?")


def unreachable(error: httpx.HTTPError) -> VouchClientError:
    """Return what a failed transport means to a caller."""
    return UnreachableError(f"{type(error).__name__}: {error}".removesuffix(": "))
