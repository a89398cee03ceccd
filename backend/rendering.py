"""Text that others wrote, made safe to show: answers as sanitised HTML, passages as plain text.

An answer is Markdown from a model or from a document, so it is rendered twice over: a Markdown
parser that knows no raw HTML, no images and no reference links, then an allow-list sanitiser. The
only anchors into the page are citation markers, which this module makes itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, MutableMapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import pairwise
from typing import TypeAlias

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from backend.citing.links import host_of

Environment: TypeAlias = MutableMapping[str, object]

_MARKER = re.compile(r"\[(\d{1,3})\]")
_ALLOWED_ADDRESS = re.compile(r"(?:https?://|mailto:)\S+\Z", re.IGNORECASE)
_LOCAL_SCHEME = "file:"  # of what ingestion read from a folder without a public address
_ALLOWED_ANCHOR = re.compile(r"#c-\d{1,3}\Z")
_TAGS = frozenset(
    {"a", "p", "br", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "hr"}
    | {"h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "span"}
)
_HEADING_SHIFT = 2  # the page's own headings take the first two levels
_LOWEST_HEADING = 6


@dataclass(frozen=True, slots=True)
class _Marking:
    """What a rendering marks: which numbers are citations, which sentences are unsupported."""

    numbers: frozenset[int] | None
    unsupported: tuple[str, ...]


def render_answer(
    markdown: str,
    *,
    numbers: Collection[int] | None = None,
    unsupported: Sequence[str] = (),
    hosts: AbstractSet[str] | None = None,
) -> str:
    """Render an answer as HTML that can do nothing but be read.

    Args:
        markdown: The answer; markers ``[n]`` become links to ``#c-n``.
        numbers: Numbers that are citations; other markers stay text. None takes every marker.
        unsupported: Sentences, as they stand in the answer, to be marked as resting on nothing.
        hosts: Hosts that links may lead to, in lower case. None allows every web and mail address.

    Returns:
        HTML from a fixed set of tags. Links go to http, https or mail addresses only.
    """
    marking = _Marking(None if numbers is None else frozenset(numbers), tuple(unsupported))
    return nh3.clean(
        _MARKDOWN.render(markdown, {"marking": marking}),
        tags=set(_TAGS),
        attributes={"a": {"href", "title", "aria-label"}},
        attribute_filter=partial(_keep_attribute, hosts),
        url_schemes={"http", "https", "mailto"},
        allowed_classes={"a": {"cite"}, "span": {"unsupported"}},
        link_rel="noopener noreferrer nofollow",
    )


def safe_link(address: str) -> str:
    """Return an address that may be put into ``href``, or nothing when it may not."""
    return address if _ALLOWED_ADDRESS.match(address) else ""


def local_path(address: str) -> str:
    """Return source and path of a file that is published nowhere; nothing for other addresses."""
    return address.removeprefix(_LOCAL_SCHEME) if address.startswith(_LOCAL_SCHEME) else ""


def _keep_attribute(
    hosts: AbstractSet[str] | None, tag: str, attribute: str, value: str
) -> str | None:
    if tag == "a" and attribute == "href" and not _ALLOWED_ANCHOR.match(value):
        is_elsewhere = hosts is not None and host_of(value) not in hosts
        return None if is_elsewhere else safe_link(value) or None
    return value


def _marking(environment: Environment) -> _Marking:
    marking = environment["marking"]
    if not isinstance(marking, _Marking):
        raise TypeError("an answer is rendered with its marking")
    return marking


def _citation_rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the parser's form
    """Take ``[n]`` as a citation before the parser can take it as the text of a link."""
    match = _MARKER.match(state.src, state.pos)
    if match is None:
        return False
    number = int(match.group(1))
    allowed = _marking(state.env).numbers
    if allowed is not None and number not in allowed:
        return False
    if not silent:
        state.push("citation", "", 0).meta = {"number": number}
    state.pos = match.end()
    return True


def _shift_headings(state: StateCore) -> None:
    """Keep an answer's headings below the page's own."""
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            level = min(int(token.tag[1:]) + _HEADING_SHIFT, _LOWEST_HEADING)
            token.tag = f"h{level}"


def _mark_sentences(state: StateCore) -> None:
    """Wrap unsupported sentences; one that cuts through emphasis or a link is left unmarked."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        for sentence in _marking(state.env).unsupported:
            _mark_sentence(state, token, sentence)


def _mark_sentence(state: StateCore, token: Token, sentence: str) -> None:
    before, found, after = token.content.partition(sentence)
    if (
        not found
        or not sentence.strip()
        or any(c.type == "unsupported" for c in token.children or ())
    ):
        return
    pieces = [_parse_inline(state, piece) for piece in (before, sentence, after)]
    marked = [
        *pieces[0],
        Token("unsupported", "span", 1),
        *pieces[1],
        Token("unsupported", "span", -1),
        *pieces[2],
    ]
    if _words(marked) == _words(token.children or []):
        token.children = marked


def _glue_citations(state: StateCore) -> None:
    """Keep a marker on the line of the word it follows."""
    for token in state.tokens:
        children = token.children or []
        for before, after in pairwise(children):
            if after.type == "citation" and before.content.endswith(" "):
                before.content = f"{before.content[:-1]}\N{NO-BREAK SPACE}"


def _parse_inline(state: StateCore, text: str) -> list[Token]:
    tokens: list[Token] = []
    state.md.inline.parse(text, state.md, state.env, tokens)
    return tokens


def _words(tokens: Sequence[Token]) -> str:
    return "".join(token.content for token in tokens if token.type != "unsupported")


def _render_citation(
    _renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    _options: OptionsDict,
    _environment: Environment,
) -> str:
    number = int(tokens[index].meta["number"])
    return f'<a class="cite" href="#c-{number}">[{number}]</a>'


def _render_image(
    _renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    _options: OptionsDict,
    _environment: Environment,
) -> str:
    """An image is its alternative text: fetching it would tell a stranger who reads what."""
    return escape(tokens[index].content)


def _render_mark(
    _renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    _options: OptionsDict,
    _environment: Environment,
) -> str:
    return '<span class="unsupported">' if tokens[index].nesting == 1 else "</span>"


def _make_markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False})
    parser.enable(["table", "strikethrough"]).disable(["reference", "html_block", "html_inline"])
    parser.inline.ruler.before("link", "citation", _citation_rule)
    parser.core.ruler.push("headings", _shift_headings)
    parser.core.ruler.push("sentences", _mark_sentences)
    parser.core.ruler.push("glue", _glue_citations)
    parser.add_render_rule("citation", _render_citation)
    parser.add_render_rule("image", _render_image)
    parser.add_render_rule("unsupported", _render_mark)
    return parser


_MARKDOWN = _make_markdown()
