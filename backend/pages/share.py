"""An answer to take along: the command that asks it again, and Markdown with its references."""

from __future__ import annotations

import json
import shlex
from urllib.parse import quote

from backend.contract import AskResponse, Citation
from backend.rendering import local_path, safe_link


def make_curl(response: AskResponse, base_url: str) -> str:
    """Return a command that asks the same question again."""
    body = json.dumps({"question": response.question}, ensure_ascii=False)
    return (
        f"curl -s {shlex.quote(base_url.rstrip('/') + '/ask')} "
        f"-H 'content-type: application/json' -d {shlex.quote(body)}"
    )


def make_markdown(response: AskResponse, base_url: str) -> str:
    """Return question, answer and references as Markdown to paste elsewhere.

    A reference to a local file names its path and leads to the passage in these pages.
    """
    lines = [f"**{response.question}**", "", response.answer]
    if response.citations:
        here = base_url.rstrip("/")
        lines += ["", *(_reference(citation, here) for citation in response.citations)]
    return "\n".join(lines) + "\n"


def _reference(citation: Citation, here: str) -> str:
    heading = ", ".join(trail_of(citation.title, citation.section_heading))
    link, path = safe_link(citation.source_url), local_path(citation.source_url)
    if path:
        heading, link = f"{heading} ({path})", f"{here}/sources/{quote(citation.chunk_id, safe='')}"
    return f"[{citation.number}] {heading}" + (f" <{link}>" if link else "")


def trail_of(*parts: str) -> tuple[str, ...]:
    """Return title and headings without blanks and repetitions, outermost first."""
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
