"""Reading addresses: http and https only, inside limits of size and time, robots.txt respected."""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import TracebackType
from urllib.parse import urljoin, urlsplit
from urllib.robotparser import RobotFileParser

import httpx

from ingestion.document import RawContent
from ingestion.errors import SourceError, UnreadableError

AGENT = "vouch-ingestion"
_REDIRECTS = 5
_ACCEPT = "text/markdown, text/html;q=0.9, text/*;q=0.8, */*;q=0.5"
_ROBOTS_BYTES = 500_000
_NOT_FOUND = range(400, 500)


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Bounds on what is read.

    Attributes:
        seconds: Of one address, from the first connection to the last byte.
        most_bytes: Of one file or decoded body.
        most_pages: Of one source that leads to others.
        site_seconds: Of all pages of such a source together.
    """

    seconds: float
    most_bytes: int
    most_pages: int = 1000
    site_seconds: float = 1800.0


class Fetcher:
    """Reads addresses of one run over one client.

    Args:
        limits: Bounds on each address.
        transport: Carries requests out; it is what keeps private addresses out of reach.
    """

    def __init__(self, limits: FetchLimits, transport: httpx.BaseTransport) -> None:
        self.limits = limits
        self._client = httpx.Client(
            timeout=limits.seconds,
            follow_redirects=False,
            transport=transport,
            trust_env=False,
            headers={"User-Agent": AGENT, "Accept": _ACCEPT},
        )
        self._robots: dict[str, RobotFileParser] = {}

    def __enter__(self) -> Fetcher:
        """Return the fetcher."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def fetch(self, url: str) -> RawContent:
        """Return what stands at an address, named by where it was found after redirects.

        Raises:
            SourceError: It cannot be reached, may not be read, or answers with an error.
            UnreadableError: The body is too large or too slow.
        """
        deadline = time.monotonic() + self.limits.seconds
        for _ in range(_REDIRECTS + 1):
            if not self._robots_of(url).can_fetch(AGENT, url):
                raise SourceError(f"{url}: its robots.txt asks not to read it")
            answer = self._get(url, deadline, self.limits.most_bytes)
            if isinstance(answer, RawContent):
                return answer
            url = answer
        raise SourceError(f"{url}: more than {_REDIRECTS} redirects")

    def _get(self, url: str, deadline: float, most_bytes: int) -> RawContent | str:
        """Return the content of an address, or the address it redirects to."""
        try:
            with self._client.stream("GET", url) as response:
                if response.is_redirect:
                    return urljoin(url, response.headers["location"])
                response.raise_for_status()
                return RawContent(
                    document_id=url,
                    url=url,
                    data=_body(response, deadline, most_bytes),
                    media_type=response.headers.get("content-type", ""),
                )
        except httpx.HTTPStatusError as error:
            raise SourceError(f"{url}: HTTP {error.response.status_code}") from error
        except (httpx.HTTPError, httpx.InvalidURL, KeyError, ValueError) as error:
            raise SourceError(f"{url}: {type(error).__name__}: {error}") from error

    def _robots_of(self, url: str) -> RobotFileParser:
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        if site not in self._robots:
            self._robots[site] = self._read_robots(site)
        return self._robots[site]

    def _read_robots(self, site: str) -> RobotFileParser:
        """Return a site's rules; a site without them, or whose rules cannot be read, has none."""
        parser = RobotFileParser()
        url = f"{site}/robots.txt"
        try:
            for _ in range(_REDIRECTS):
                answer = self._get(url, time.monotonic() + self.limits.seconds, _ROBOTS_BYTES)
                if isinstance(answer, RawContent):
                    parser.parse(answer.data.decode("utf-8", "replace").splitlines())
                    return parser
                url = answer
        except UnreadableError:
            pass  # over-long rules are no rules
        except SourceError as error:
            status = getattr(error.__cause__, "response", None)
            if status is None or status.status_code not in _NOT_FOUND:
                raise
        parser.parse([])
        return parser


def _body(response: httpx.Response, deadline: float, most_bytes: int) -> bytes:
    data = bytearray()
    for piece in response.iter_bytes():
        data += piece
        if len(data) > most_bytes:
            raise UnreadableError(f"larger than {most_bytes} bytes")
        if time.monotonic() > deadline:
            raise UnreadableError("slower than its deadline")
    return bytes(data)
