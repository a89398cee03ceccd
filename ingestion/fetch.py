"""Reading one address: http and https only, inside limits of size and time."""

from __future__ import annotations

import time
from dataclasses import dataclass

import httpx

from ingestion.document import RawContent
from ingestion.errors import SourceError, UnreadableError

_REDIRECTS = 5


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Bounds on one address.

    Attributes:
        seconds: From the first connection to the last byte.
        most_bytes: Of the decoded body.
    """

    seconds: float
    most_bytes: int


def fetch(
    url: str, limits: FetchLimits, *, transport: httpx.BaseTransport | None = None
) -> RawContent:
    """Return what stands at an address, named by where it was found after redirects.

    Raises:
        SourceError: The address cannot be reached or answers with an error.
        UnreadableError: The body is too large or too slow.
    """
    deadline = time.monotonic() + limits.seconds
    try:
        with (
            httpx.Client(
                timeout=limits.seconds,
                follow_redirects=True,
                max_redirects=_REDIRECTS,
                transport=transport,
                headers={"User-Agent": "vouch-ingestion", "Accept": "text/markdown, text/*;q=0.9"},
            ) as client,
            client.stream("GET", url) as response,
        ):
            response.raise_for_status()
            data = _read(response, deadline, limits)
            return RawContent(
                document_id=str(response.url),
                url=str(response.url),
                data=data,
                media_type=response.headers.get("content-type", ""),
            )
    except httpx.HTTPStatusError as error:
        raise SourceError(f"{url}: HTTP {error.response.status_code}") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SourceError(f"{url}: {type(error).__name__}: {error}") from error


def _read(response: httpx.Response, deadline: float, limits: FetchLimits) -> bytes:
    data = bytearray()
    for piece in response.iter_bytes():
        data += piece
        if len(data) > limits.most_bytes:
            raise UnreadableError(f"larger than {limits.most_bytes} bytes")
        if time.monotonic() > deadline:
            raise UnreadableError(f"slower than {limits.seconds:g} s")
    return bytes(data)
