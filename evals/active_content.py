"""Finds in rendered HTML whatever could act, load or lead a reader astray."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from html.parser import HTMLParser

from backend.citing.links import host_of

_ACTIVE_TAGS = frozenset(
    {"script", "img", "svg", "iframe", "object", "embed", "form", "input", "button", "style"}
    | {"link", "meta", "base", "video", "audio", "source", "math", "template"}
)
_ADDRESSES = frozenset({"href", "src", "action", "formaction", "xlink:href", "srcset", "poster"})


def active_content(html: str, hosts: AbstractSet[str]) -> tuple[str, ...]:
    """Return what is active in a piece of HTML, one line each; empty when it is inert.

    Args:
        html: As it would reach a browser.
        hosts: Where links may lead, in lower case.
    """
    reader = _Reader(hosts)
    reader.feed(html)
    reader.close()
    return tuple(reader.found)


class _Reader(HTMLParser):
    def __init__(self, hosts: AbstractSet[str]) -> None:
        super().__init__(convert_charrefs=True)
        self._hosts = hosts
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _ACTIVE_TAGS:
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.found.append(f"<{tag} {name}>")
            if name in _ADDRESSES and not self._is_allowed(value or ""):
                self.found.append(f"<{tag} {name}={value}>")

    def _is_allowed(self, address: str) -> bool:
        return address.startswith("#c-") or host_of(address) in self._hosts
