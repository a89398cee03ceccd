"""HTML pages: the main content as headings, paragraphs, code and tables.

What a reader does not see, and what stands on every page of a site, is left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ingestion.decoding import decode
from ingestion.document import Parsed, RawContent
from ingestion.parsers.builder import DocumentBuilder
from ingestion.parsers.html_tables import is_layout, table_rows

_INVISIBLE = ("script", "style", "noscript", "template", "svg", "iframe", "object", "canvas")
_CHROME = ("nav", "footer", "aside", "form", "button", "select", "dialog")
_ROLES = ("navigation", "banner", "contentinfo", "search", "complementary")
_MAIN = ("#mw-content-text", "article", "main", "[role=main]", "#content", ".content")
_MAIN_SHARE = 0.4
_SECTIONING = "address article blockquote center details div fieldset header main section summary"
_LISTS = "dd dl dt figcaption figure hr li ol p pre ul h1 h2 h3 h4 h5 h6"
_TABLES = "table tbody td tfoot th thead tr"
_BLOCKS = frozenset(f"{_SECTIONING} {_LISTS} {_TABLES}".split())
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_DEPTH = 200
_LEAST_LINKS = 6
_LINK_SHARE = 0.9
_LINK_CHARACTERS = 40


class HtmlParser:
    """Reads HTML and XHTML."""

    media_types = ("text/html", "application/xhtml+xml")

    def parse(self, content: RawContent) -> Parsed:
        """Return the page as one document."""
        tree = LexborHTMLParser(decode(content.data))
        builder = DocumentBuilder()
        title = tree.css_first("title")
        html = tree.css_first("html")
        language = (html.attributes.get("lang") or "")[:2].lower() if html else ""
        render_tree(tree, builder)
        return builder.parsed(content, title=title.text() if title else "", language=language)


def html_text(fragment: str) -> str:
    """Return the words of a piece of HTML, paragraphs apart."""
    builder = DocumentBuilder()
    render_tree(LexborHTMLParser(fragment), builder)
    return builder.document(RawContent("", "", b"")).text.strip()


def page_links(data: bytes, url: str) -> list[str]:
    """Return the absolute addresses a page links to, in order, each once."""
    tree = LexborHTMLParser(decode(data))
    found = (node.attributes.get("href") or "" for node in tree.css("a[href]"))
    return list(dict.fromkeys(urljoin(url, href.partition("#")[0]) for href in found))


def render_tree(tree: LexborHTMLParser, builder: DocumentBuilder) -> None:
    """Add the main content of a page to a document."""
    body = tree.body
    if body is None:
        return
    _drop_unseen(body, builder)
    main = _main(body)
    for node in main.css("ul, table"):
        if _is_menu(node):
            _remove(node, "menu", builder)
    builder.dropped["image"] += len(main.css("img"))
    _Renderer(builder).children(main, 0)


def _drop_unseen(body: LexborNode, builder: DocumentBuilder) -> None:
    """Take out what a reader does not see, and the frame around the page's own text."""
    for name in _INVISIBLE:
        _drop(body, name, name, builder)
    for node in body.css("[hidden], [aria-hidden=true], [style]"):
        if _is_hidden(node):
            _remove(node, "hidden", builder)
    for name in _CHROME:
        _drop(body, name, name, builder)
    for role in _ROLES:
        _drop(body, f"[role={role}]", "navigation", builder)


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or _HIDDEN_STYLE.search(attributes.get("style") or "") is not None
    )


def _is_menu(node: LexborNode) -> bool:
    """Whether a list or table is nothing but many short links, as menus are."""
    links = [" ".join(link.text().split()) for link in node.css("a")]
    length = sum(map(len, links))
    words = "".join(node.text().split())
    return (
        len(links) >= _LEAST_LINKS
        and length < _LINK_CHARACTERS * len(links)
        and sum(len("".join(link.split())) for link in links) >= _LINK_SHARE * len(words)
    )


def _main(body: LexborNode) -> LexborNode:
    """Return the element that holds the page's own text, the body when none clearly does."""
    everything = len(body.text())
    for selector in _MAIN:
        found = body.css(selector)
        if len(found) == 1 and len(found[0].text()) > _MAIN_SHARE * everything:
            return found[0]
    return body


def _drop(body: LexborNode, selector: str, kind: str, builder: DocumentBuilder) -> None:
    for node in body.css(selector):
        _remove(node, kind, builder)


def _remove(node: LexborNode, kind: str, builder: DocumentBuilder) -> None:
    if node.parent is not None:
        builder.dropped[kind] += 1
        node.decompose()


class _Renderer:
    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder

    def children(self, node: LexborNode, depth: int) -> None:
        """Add what is in an element; runs of inline content become paragraphs."""
        inline: list[str] = []
        for child in node.iter(include_text=True):
            if child.tag in _BLOCKS or (child.tag != "-text" and _has_block(child)):
                self._flush(inline)
                self._block(child, depth + 1)
            elif child.tag == "br":
                inline.append("\n")
            elif child.tag not in {"-comment", "_comment"}:
                inline.append(child.text(deep=True) or "")
        self._flush(inline)

    def _flush(self, inline: list[str], mark: str = "") -> None:
        lines = (" ".join(line.split()) for line in "".join(inline).split("\n\n"))
        words = "\n".join(line for line in lines if line)
        if words:
            self._builder.text(mark + words)
        inline.clear()

    def _block(self, node: LexborNode, depth: int) -> None:
        tag = node.tag or ""
        if depth > _DEPTH:
            self._builder.dropped["deep_nesting"] += 1
            self._builder.text(" ".join(node.text(separator=" ").split()))
        elif len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():  # noqa: PLR2004 - h1 to h6
            self._builder.heading(int(tag[1]), node.text(separator=" "), _anchor(node))
        elif tag == "pre":
            self._builder.code(node.text())
        elif tag == "table" and not is_layout(node):
            rows, has_header = table_rows(node)
            self._builder.table(rows, has_header=has_header)
        elif tag == "li" and not _has_block(node):
            self._flush([node.text(separator="")], "- ")
        else:
            self.children(node, depth)


def _has_block(node: LexborNode) -> bool:
    return any(child.tag in _BLOCKS for child in _descendants(node))


def _descendants(node: LexborNode) -> Iterator[LexborNode]:
    for child in node.traverse(include_text=False):
        if child.mem_id != node.mem_id:
            yield child


def _anchor(node: LexborNode) -> str:
    """Return the id that leads to a heading: its own, one inside it, or that of its section."""
    own = node.attributes.get("id")
    inner = node.css_first("[id]")
    parent = node.parent
    around = parent.attributes.get("id") if parent is not None and parent.tag == "section" else ""
    return own or (inner.attributes.get("id") if inner is not None else "") or around or ""
