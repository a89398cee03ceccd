"""Addresses that lead to others: ``sitemap.xml`` and ``llms.txt``."""

from __future__ import annotations

import gzip
import re
import time
from collections.abc import Iterator
from io import BytesIO
from urllib.parse import urljoin, urlsplit

from ingestion.decoding import decode
from ingestion.document import RawContent
from ingestion.errors import SourceError, UnreadableError
from ingestion.fetch import Fetcher
from ingestion.parsers.feed import local_name, parse_xml

_LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
_MOST_SITEMAPS = 50
_GZIP = b"\x1f\x8b"


def read_site(url: str, fetcher: Fetcher) -> Iterator[RawContent | tuple[str, str]]:
    """Yield the pages that an address stands for: itself, or those it leads to.

    A page that cannot be read is yielded as its address and the reason. Only addresses on the same
    host are followed.

    Raises:
        SourceError: The address itself cannot be read.
    """
    first = fetcher.fetch(url)
    links = _links(first, fetcher)
    if links is None:
        yield first
        return
    deadline = time.monotonic() + fetcher.limits.site_seconds
    host = _host(first.url)
    wanted = [link for link in dict.fromkeys(links) if _host(link) == host]
    for number, link in enumerate(wanted):
        if number >= fetcher.limits.most_pages:
            yield link, f"beyond the {fetcher.limits.most_pages} pages a source may have"
            return
        if time.monotonic() > deadline:
            yield link, f"beyond the {fetcher.limits.site_seconds:g} s a source may take"
            return
        try:
            yield fetcher.fetch(link)
        except (SourceError, UnreadableError) as error:
            yield link, str(error)


def _links(content: RawContent, fetcher: Fetcher) -> list[str] | None:
    """Return the addresses that an index names; None when the content is no index."""
    path = urlsplit(content.url).path.lower()
    if path.endswith(("/llms.txt", "llms.txt")) and not path.endswith("llms-full.txt"):
        found = _LINK.findall(decode(content.data))
        joined = [_joined(content.url, link).partition("#")[0] for link in found]
        return [link for link in joined if link]
    data = _unpacked(content.data, fetcher.limits.most_bytes)
    if b"<urlset" in data[:2000] or b"<sitemapindex" in data[:2000]:
        return _sitemap(data, fetcher, [_MOST_SITEMAPS])
    return None


def _host(url: str) -> str | None:
    """Return the host of an address; None for one that is malformed, as those of others may be."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _joined(base: str, link: str) -> str:
    try:
        return urljoin(base, link)
    except ValueError:
        return ""


def _sitemap(data: bytes, fetcher: Fetcher, left: list[int]) -> list[str]:
    """Return the pages of a sitemap and of those it names; ``left`` bounds how many are read."""
    root = parse_xml(data)
    found = [(e.text or "").strip() for e in root.iter() if local_name(e) == "loc"]
    if local_name(root) != "sitemapindex":
        return [url for url in found if url]
    pages: list[str] = []
    for url in found:
        left[0] -= 1
        if left[0] < 0:
            break
        content = fetcher.fetch(url)
        pages += _sitemap(_unpacked(content.data, fetcher.limits.most_bytes), fetcher, left)
    return pages


def _unpacked(data: bytes, most_bytes: int) -> bytes:
    if not data.startswith(_GZIP):
        return data
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            unpacked = file.read(most_bytes + 1)
    except (OSError, EOFError) as error:
        raise UnreadableError(f"damaged gzip: {error}") from error
    if len(unpacked) > most_bytes:
        raise UnreadableError(f"unpacks to more than {most_bytes} bytes")
    return unpacked
