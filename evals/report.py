"""A report on disk: Markdown for the repository, HTML for the browser, figures beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #8886; padding: .3rem .6rem; }
img, svg { max-width: 100%; height: auto; background: white; }
"""


@dataclass(frozen=True, slots=True)
class Part:
    """One section of a report.

    Attributes:
        body: Markdown.
        figures: Name of a figure in the report's figures to its caption, shown after the body.
    """

    heading: str
    body: str
    figures: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a report shows.

    Attributes:
        name: File name without suffix.
        figures: Figure name to SVG text.
    """

    name: str
    title: str
    parts: Sequence[Part]
    figures: Mapping[str, str] = field(default_factory=dict[str, str])


def write_report(report: Report, folder: Path) -> tuple[Path, Path]:
    """Write ``<name>.md`` with its figures as files, and one self-contained ``<name>.html``.

    Returns:
        The Markdown file and the HTML file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in report.figures.items():
        (folder / f"{report.name}-{name}.svg").write_text(svg, encoding="utf-8")
    markdown, html = folder / f"{report.name}.md", folder / f"{report.name}.html"
    markdown.write_text(render_markdown(report), encoding="utf-8")
    html.write_text(render_html(report), encoding="utf-8")
    return markdown, html


def render_markdown(report: Report) -> str:
    """Return the report with its figures as links."""
    lines = [f"# {report.title}"]
    for part in report.parts:
        lines += [f"## {part.heading}", part.body.strip()]
        lines += [
            f"![{caption}]({report.name}-{name}.svg)" for name, caption in part.figures.items()
        ]
    return "\n\n".join(line for line in lines if line) + "\n"


def render_html(report: Report) -> str:
    """Return the report as one page, figures inline; nothing is loaded from anywhere."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    pieces = [f"<h1>{escape(report.title)}</h1>"]
    for part in report.parts:
        pieces += [f"<h2>{escape(part.heading)}</h2>", markdown.render(part.body)]
        pieces += [
            f"<figure>{_inline(report.figures[name])}<figcaption>{escape(caption)}</figcaption>"
            "</figure>"
            for name, caption in part.figures.items()
        ]
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{escape(report.title)}"
        f"</title><style>{_STYLE}</style><body>{''.join(pieces)}</body></html>\n"
    )


def _inline(svg: str) -> str:
    """Return the SVG element without the XML prologue."""
    return svg[svg.index("<svg") :]
