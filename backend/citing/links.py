"""Links in an answer: only those to the hosts of the indexed evidence stay links.

An address is where an answer could send a reader on a stranger's word. A link elsewhere keeps its
words and loses its address; what cannot be read with certainty as a link to an indexed host is
broken up, so that no Markdown reader takes it for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from prose.markup import Ranges, code

_INLINE = re.compile(
    r"!?\[(?P<label>(?:[^\[\]\\\n]|\\.)*)\]\("
    r"(?P<target>[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'))?[ \t]*\)"
)
_OPENING = re.compile(r"\](?=[(\[])")
_AUTOLINK = re.compile(r"<+(?P<target>[A-Za-z][A-Za-z0-9+.-]*:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>+")
_DEFINITION = re.compile(r"^[ \t]{0,3}\[[^\]\n]+\]:", re.MULTILINE)
_ADDRESS = re.compile(
    r"(?:(?:https?|ftp)://|(?<![\w@.-]))(?:[\w.-]*@)?"
    r"(?P<host>(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,5}"
    r"(?:com|org|net|biz|info|io|dev|ai|app|xyz|co|ru|cn|top|site|online|club|shop|live|me|us|uk))"
    r"(?![\w-]|\.\w)(?::\d+)?(?:/[^\s<>\"'`)\]]*)?",
    re.IGNORECASE,
)
_RESERVED = frozenset({"example.com", "example.org", "example.net"})
_RESERVED_ENDINGS = (".example.com", ".example.org", ".example.net")
REMOVED_ADDRESS = "(address removed)"
_ANY_OPENING = re.compile(r"(?<=\])(?=[(\[:])|<(?=[A-Za-z0-9._%+-]+[:@])")
# What one pass takes out can join two halves of a link, each time by a shorter text.
_PASSES = 20
_READER = MarkdownIt("commonmark", {"html": False})
_PLAIN_TARGET = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d+)?(?:[/?#][\w\-./?:#=&%~+,;@!$*'()]*)?")


def hosts_of(addresses: Iterable[str]) -> frozenset[str]:
    """Return the hosts of web addresses, in lower case; what has none is left out."""
    return frozenset(host for address in addresses if (host := host_of(address)))


def with_inert_links(markdown: str, hosts: AbstractSet[str]) -> str:
    """Take the address from every link that does not lead to one of the hosts.

    Args:
        markdown: An answer as its author wrote it.
        hosts: Where links may lead, in lower case.

    Returns:
        The answer; cleaning it again changes nothing. Its code is unchanged, unless a Markdown
        reader sees a link where this module saw code: then every opening of a link is broken up.
    """
    for _ in range(_PASSES):
        before, markdown = markdown, _cleaned_once(markdown, hosts)
        if markdown == before:
            break
    if not _leads_elsewhere(markdown, hosts):
        return markdown
    return _ANY_OPENING.sub(" ", markdown)


def _cleaned_once(markdown: str, hosts: AbstractSet[str]) -> str:
    markdown = _outside_code(markdown, _INLINE, lambda match: _inline(match, hosts))
    markdown = _outside_code(markdown, _AUTOLINK, lambda match: _autolink(match, hosts))
    markdown = _outside_code(markdown, _DEFINITION, lambda match: match[0][:-1])
    kept = [match.span() for match in _INLINE.finditer(markdown) if _allowed(match, hosts)]
    guarded = code(markdown)
    pieces: list[str] = []
    position = 0
    for match in _OPENING.finditer(markdown):
        inside = any(start <= match.start() < end for start, end in kept)
        if inside or guarded.holds(match.start()) or _is_marker(markdown, match):
            continue
        pieces += [markdown[position : match.end()], " "]
        position = match.end()
    return "".join([*pieces, markdown[position:]])


def without_unknown_addresses(text: str, known: str) -> str:
    """Take out web addresses and host names that no evidence contains.

    A model that writes an address nobody showed it has invented it or was told it; either way a
    reader must not follow it. Code is no exception: a command there is what gets copied.

    Args:
        text: An answer.
        known: All texts and addresses of the evidence.
    """
    seen = known.casefold()

    def replace(match: re.Match[str]) -> str:
        host = match["host"].casefold().removeprefix("www.")
        is_known = host in seen or host in _RESERVED or host.endswith(_RESERVED_ENDINGS)
        return match[0] if is_known else REMOVED_ADDRESS

    return _ADDRESS.sub(replace, text)


def _leads_elsewhere(markdown: str, hosts: AbstractSet[str]) -> bool:
    """Whether a reader of CommonMark finds an image, or a link to another host."""
    return any(
        token.type == "image"
        or (token.type == "link_open" and host_of(str(token.attrGet("href"))) not in hosts)
        for token in _tokens(_READER.parse(markdown))
    )


def _tokens(tokens: Iterable[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _tokens(token.children or ())


def _outside_code(
    text: str, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str]
) -> str:
    guarded: Ranges = code(text)
    return pattern.sub(
        lambda match: match[0] if guarded.holds(match.start()) else replace(match), text
    )


def _inline(match: re.Match[str], hosts: AbstractSet[str]) -> str:
    return match[0] if _allowed(match, hosts) else match["label"]


def _allowed(match: re.Match[str], hosts: AbstractSet[str]) -> bool:
    is_image = match[0].startswith("!")
    return not is_image and host_of(match["target"]) in hosts and bool(match["label"].strip())


def _autolink(match: re.Match[str], hosts: AbstractSet[str]) -> str:
    return match[0] if host_of(match["target"]) in hosts else match["target"]


def _is_marker(text: str, match: re.Match[str]) -> bool:
    """Whether the bracket closes a citation marker that another one follows."""
    before = re.search(r"\[\d{1,6}$", text[max(0, match.start() - 8) : match.start()])
    return before is not None and text.startswith("[", match.end())


def host_of(address: str) -> str:
    """Return the host of a plain web address in lower case, empty for anything else."""
    if not _PLAIN_TARGET.fullmatch(address):
        return ""
    return (urlsplit(address).hostname or "").casefold()
