"""What sits between the lines of Markdown: JSX components, shortcodes, directives, imports.

The text itself is never changed. What the Markdown parser is given is a view of it with the same
lines: component lines blank, and what is inside components moved left, so that indented fences
and headings are seen for what they are. Components with a title become sections, because the title
is what tells the tabs of a page apart.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_OPEN = re.compile(r"^\s*<([A-Z][\w.]*)(\s[^<>]*?|\s.*?)?(/?)>\s*(.*)$")
_CLOSE = re.compile(r"^\s*</([A-Z][\w.]*)>\s*$")
_CLOSED = re.compile(r"</([A-Z][\w.]*)>")
_FRAGMENT = re.compile(r"^\s*</?>\s*$")
_TITLE = re.compile(
    r"(?:title|label|value|name|summary|header)=(?:\"([^\"]*)\"|'([^']*)'|\{`([^`]*)`\})"
)
_SHORTCODE = re.compile(r"^\s*\{\{[<%].*[>%]\}\}\s*$")
_DIRECTIVE = re.compile(r"^\s*:{3,}\s*(?:\{?[\w-]+\}?)?.*$")
_MODULE = re.compile(
    r"^(?:import\s.*from\s+['\"].*|import\s+['\"].*|export\s+(?:const|default|function)\b.*)$"
)
_TITLED = frozenset(
    {"Tab", "TabItem", "Step", "Accordion", "Card", "Expandable", "Panel", "DeepDive"}
)


@dataclass(slots=True)
class View:
    """What the Markdown parser is given, and what the lines it is not given mean.

    Attributes:
        lines: As many as the text has.
        openings: Titled components, by line.
        closings: Lines where one ends and its section with it.
        dropped: Lines left out, by kind.
    """

    lines: list[str] = field(default_factory=list[str])
    openings: dict[int, str] = field(default_factory=dict[int, str])
    closings: set[int] = field(default_factory=set[int])
    dropped: Counter[str] = field(default_factory=Counter[str])


def view_of(body: str) -> View:
    """Return the view of a Markdown text."""
    return _Scanner().run(body)


class _Scanner:
    def __init__(self) -> None:
        self._view = View()
        self._stack: list[tuple[str, bool]] = []
        self._fence = ""
        self._indent = 0
        self._closed: frozenset[str] = frozenset()

    def run(self, body: str) -> View:
        self._closed = frozenset(_CLOSED.findall(body))
        for line in body.split("\n"):
            self._view.lines.append(self._line(line))
        return self._view

    def _line(self, line: str) -> str:
        mark = _FENCE.match(line)
        if self._fence:
            if mark and mark[1].startswith(self._fence) and not line.strip().strip(mark[1][0]):
                self._fence = ""
            return line[self._indent :] if not line[: self._indent].strip() else line.lstrip()
        if mark:
            self._fence = mark[1]
            self._indent = len(line) - len(line.lstrip()) if self._stack else 0
            return line[self._indent :]
        return self._outside(line)

    def _outside(self, line: str) -> str:
        if "<" in line and (blank := self._component(line)) is not None:
            return blank
        for pattern, kind in (
            (_SHORTCODE, "shortcode"),
            (_DIRECTIVE, "directive"),
            (_MODULE, "import"),
        ):
            if pattern.match(line):
                self._view.dropped[kind] += 1
                return ""
        if self._stack:
            return self._dedented(line)
        return line

    def _dedented(self, line: str) -> str:
        """Move a line inside components left by two columns a level, never into its words."""
        spaces = len(line) - len(line.lstrip(" "))
        return line[min(spaces, 2 * len(self._stack)) :]

    def _component(self, line: str) -> str | None:
        if _FRAGMENT.match(line):
            self._view.dropped["component"] += 1
            return ""
        closing = _CLOSE.match(line)
        if closing:
            self._close(closing[1])
            return ""
        opening = _OPEN.match(line)
        if opening is None:
            return None
        name, attributes, is_empty, rest = opening[1], opening[2] or "", opening[3], opening[4]
        self._view.dropped["component"] += 1
        inner, separator, _ = rest.rpartition(f"</{name}>")
        if not is_empty and not separator and name in self._closed:
            self._open(name, attributes)
        return inner if separator else rest

    def _open(self, name: str, attributes: str) -> None:
        found = _TITLE.search(attributes)
        title = next((group for group in found.groups() if group), "") if found else ""
        is_titled = name in _TITLED and bool(title)
        self._stack.append((name, is_titled))
        if is_titled:
            self._view.openings[len(self._view.lines)] = title

    def _close(self, name: str) -> None:
        self._view.dropped["component"] += 1
        while self._stack:
            open_name, is_titled = self._stack.pop()
            if is_titled:
                self._view.closings.add(len(self._view.lines))
            if open_name == name:
                return
