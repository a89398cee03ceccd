from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping, Sequence

import httpx
import pytest

from ingestion.addresses import is_public
from ingestion.document import RawContent
from ingestion.errors import SourceError, UnreadableError
from ingestion.fetch import Fetcher, FetchLimits
from ingestion.guarded_transport import GuardedTransport
from ingestion.site import read_site

PUBLIC = "93.184.215.14"
Handler = Callable[[httpx.Request], httpx.Response]


class Names:
    """A resolver that answers from a table, and can change its mind."""

    def __init__(self, **answers: Sequence[str]) -> None:
        self.answers = {name.replace("_", "."): list(found) for name, found in answers.items()}
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        try:
            return (
                [str(httpx.URL(f"http://{host}").host)] if _is_literal(host) else self.answers[host]
            )
        except KeyError:
            raise SourceError(f"{host}: no such host") from None


def _is_literal(host: str) -> bool:
    return host.replace(".", "").isdigit() or ":" in host


class Web:
    """Pages by address; remembers where each connection really went."""

    def __init__(self, pages: Mapping[str, httpx.Response | str]) -> None:
        self.pages = pages
        self.connected: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.connected.append(request.url.host)
        url = f"{request.url.scheme}://{request.headers['host']}{request.url.raw_path.decode()}"
        page = self.pages.get(url, httpx.Response(404))
        return httpx.Response(200, text=page) if isinstance(page, str) else page


def fetcher(
    web: Handler,
    names: Names | None = None,
    *,
    allowed: tuple[str, ...] = (),
    private: tuple[str, ...] = (),
    most_bytes: int = 10_000,
    most_pages: int = 10,
) -> Fetcher:
    transport = GuardedTransport(
        allowed_hosts=allowed,
        private_hosts=private,
        inner=httpx.MockTransport(web),
        resolver=names or Names(docs_example=[PUBLIC], other_example=[PUBLIC]),
    )
    return Fetcher(FetchLimits(5.0, most_bytes, most_pages), transport)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.100.100.200",
        "0.0.0.0",  # noqa: S104 - refused, not bound
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1%eth0",
        "fd00::1",
        "fec0::1",
        "::ffff:127.0.0.1",
        "::ffff:a9fe:a9fe",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001:0:4136:e378:8000:63bf:80ff:fffe",
        "not an address",
    ],
)
def test_addresses_inside_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://docs.example/x",
        "gopher://docs.example/x",
        "http://127.0.0.1/",
        "http://127.0.0.1:8001/mcp",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://inside.example/",
        "http://mixed.example/",
        "http://user:secret@docs.example/",
        "http://docs.example:99999/",
        "http:///nohost",
    ],
)
def test_nothing_inside_is_asked(url: str) -> None:
    web = Web({})
    names = Names(
        inside_example=["10.0.0.7"], mixed_example=[PUBLIC, "127.0.0.1"], docs_example=[PUBLIC]
    )
    with pytest.raises(SourceError):
        fetcher(web, names).fetch(url)
    assert web.connected == []


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "localhost"])
def test_other_spellings_of_loopback_are_refused_after_resolving(host: str) -> None:
    web = Web({})
    transport = GuardedTransport(inner=httpx.MockTransport(web))
    with pytest.raises(SourceError):
        Fetcher(FetchLimits(5.0, 1000), transport).fetch(f"http://{host}/")
    assert web.connected == []


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1/admin",
        "http://inside.example/",
        "file:///etc/passwd",
        "//169.254.169.254/latest/",
        "http://[::ffff:10.0.0.1]/",
        "http://[",
        "http://docs.example:port/",
    ],
)
def test_a_redirect_inside_is_refused(target: str) -> None:
    web = Web({"http://docs.example/a": httpx.Response(302, headers={"location": target})})
    names = Names(docs_example=[PUBLIC], inside_example=["192.168.0.9"])
    with pytest.raises(SourceError):
        fetcher(web, names).fetch("http://docs.example/a")
    assert set(web.connected) == {PUBLIC}


def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    web = Web({"https://docs.example/a": "hello"})
    names = Names(docs_example=[PUBLIC])
    reader = fetcher(web, names)
    assert reader.fetch("https://docs.example/a").data == b"hello"
    assert set(web.connected) == {PUBLIC}
    names.answers["docs.example"] = ["127.0.0.1"]
    with pytest.raises(SourceError, match="not on the public internet"):
        reader.fetch("https://docs.example/a")
    assert set(web.connected) == {PUBLIC}


def test_redirects_are_followed_and_name_the_last_address() -> None:
    moved = httpx.Response(301, headers={"location": "/b"})
    content = fetcher(Web({"http://docs.example/a": moved, "http://docs.example/b": "here"})).fetch(
        "http://docs.example/a"
    )
    assert (content.url, content.data) == ("http://docs.example/b", b"here")


def test_endless_redirects_end() -> None:
    loop = httpx.Response(302, headers={"location": "http://docs.example/a"})
    with pytest.raises(SourceError, match="redirects"):
        fetcher(Web({"http://docs.example/a": loop})).fetch("http://docs.example/a")


def test_a_body_over_the_limit_is_not_read_to_its_end() -> None:
    with pytest.raises(UnreadableError, match="larger than 100 bytes"):
        fetcher(Web({"http://docs.example/a": "x" * 1000}), most_bytes=100).fetch(
            "http://docs.example/a"
        )


def test_errors_name_their_status() -> None:
    with pytest.raises(SourceError, match="HTTP 404"):
        fetcher(Web({})).fetch("http://docs.example/gone")


def test_robots_txt_is_respected() -> None:
    web = Web(
        {
            "http://docs.example/robots.txt": "User-agent: *\nDisallow: /private/\n",
            "http://docs.example/private/a": "secret",
            "http://docs.example/open": "open",
        }
    )
    reader = fetcher(web)
    assert reader.fetch("http://docs.example/open").data == b"open"
    with pytest.raises(SourceError, match=r"robots\.txt"):
        reader.fetch("http://docs.example/private/a")


def test_only_listed_hosts_are_read_when_a_list_is_given() -> None:
    web = Web({"http://docs.example/a": "x", "http://other.example/a": "y"})
    reader = fetcher(web, allowed=("docs.example",))
    assert reader.fetch("http://docs.example/a").data == b"x"
    with pytest.raises(SourceError, match="not among the hosts"):
        reader.fetch("http://other.example/a")


def test_a_private_host_is_read_only_when_it_is_named() -> None:
    web = Web({"http://wiki.corp/a": "inside"})
    names = Names(wiki_corp=["10.0.0.3"])
    assert fetcher(web, names, private=("wiki.corp",)).fetch("http://wiki.corp/a").data == b"inside"
    with pytest.raises(SourceError):
        fetcher(web, names).fetch("http://wiki.corp/a")


def pages(reader: Fetcher, url: str) -> list[str]:
    return [
        page.url if isinstance(page, RawContent) else f"{page[0]}: {page[1]}"
        for page in read_site(url, reader)
    ]


def test_a_sitemap_leads_to_the_pages_of_its_own_host() -> None:
    index = "<sitemapindex><sitemap><loc>http://docs.example/s1.xml</loc></sitemap></sitemapindex>"
    urls = "".join(
        f"<url><loc>{url}</loc></url>"
        for url in ("http://docs.example/a", "http://other.example/b", "http://docs.example/gone")
    )
    web = Web(
        {
            "http://docs.example/sitemap.xml": index,
            "http://docs.example/s1.xml": f"<urlset>{urls}</urlset>",
            "http://docs.example/a": "page a",
        }
    )
    assert pages(fetcher(web), "http://docs.example/sitemap.xml") == [
        "http://docs.example/a",
        "http://docs.example/gone: http://docs.example/gone: HTTP 404",
    ]


def test_malformed_addresses_of_a_site_are_passed_over() -> None:
    urls = "<url><loc>http://[</loc></url><url><loc>http://docs.example/a</loc></url>"
    web = Web(
        {
            "http://docs.example/sitemap.xml": f"<urlset>{urls}</urlset>",
            "http://docs.example/llms.txt": "- [Odd](http://[)\n- [Page](/a)\n",
            "http://docs.example/a": "page a",
        }
    )
    for index in ("sitemap.xml", "llms.txt"):
        assert pages(fetcher(web), f"http://docs.example/{index}") == ["http://docs.example/a"]


def test_llms_txt_is_followed_and_the_number_of_pages_is_bounded() -> None:
    links = "\n".join(f"- [Page {n}](/p{n}.md): about {n}" for n in range(5))
    web = Web(
        {"http://docs.example/llms.txt": f"# Docs\n\n{links}\n"}
        | {f"http://docs.example/p{n}.md": f"# Page {n}" for n in range(5)}
    )
    found = pages(fetcher(web, most_pages=3), "http://docs.example/llms.txt")
    assert found[:3] == [f"http://docs.example/p{n}.md" for n in range(3)]
    assert "beyond the 3 pages" in found[3]
    assert len(found) == 4


def test_a_packed_sitemap_does_not_unpack_without_end() -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * 1_000_000)
    web = Web({"http://docs.example/sitemap.xml.gz": httpx.Response(200, content=bomb)})
    with pytest.raises(UnreadableError, match="unpacks to more"):
        pages(fetcher(web), "http://docs.example/sitemap.xml.gz")


def test_a_sitemap_with_entities_is_refused() -> None:
    text = '<!DOCTYPE x [<!ENTITY a "aaa">]><urlset><url><loc>&a;</loc></url></urlset>'
    web = Web({"http://docs.example/sitemap.xml": text})
    with pytest.raises(UnreadableError, match="entities"):
        pages(fetcher(web), "http://docs.example/sitemap.xml")
