"""What every page route works with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from backend.desk.ports import DeskServices
from backend.pages.ports import PageServices
from backend.pages.templates import Templates


@dataclass(frozen=True, slots=True)
class Pages:
    """Services and templates; ``app.state.pages`` holds them.

    Attributes:
        framed_by: Origins whose pages may show the widget; empty: nobody's.
    """

    services: PageServices
    desk: DeskServices
    templates: Templates
    framed_by: Sequence[str] = ()


def get_pages(request: Request) -> Pages:
    """Return the pages' context of this application."""
    pages = request.app.state.pages
    if not isinstance(pages, Pages):
        raise TypeError("app.state.pages holds the context of the pages")
    return pages


PagesHere = Annotated[Pages, Depends(get_pages)]
