"""What jobs ask for: the shape of ``JobRecord.request``, shared by who orders and who works."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from storage.source_names import SourceNameText


class _Order(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class OrderedSource(_Order):
    """One source to read; it is replaced as a whole."""

    name: SourceNameText = Field(min_length=1)
    kind: Literal["path", "url", "reference"]
    location: str = Field(default="", max_length=4096)
    base_url: str = Field(default="", max_length=2000)
    glob: str = Field(default="", max_length=500)
    labels: tuple[str, ...] = ()
    is_recursive: bool = Field(default=True, description="Of a folder: those below it as well.")


class IngestOrder(_Order):
    """Read these sources and publish a build with them."""

    sources: tuple[OrderedSource, ...] = ()
    removed: tuple[str, ...] = Field(default=(), description="Sources to leave out from now on.")
    refresh_seconds: int = Field(
        default=0, ge=0, description="Read addresses again after so long; 0: only when asked."
    )
    validators: dict[str, str] = Field(
        default_factory=dict, description="ETag and Last-Modified of what is about to be read."
    )


class PublishOrder(_Order):
    """Put this build in force."""

    build: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")


class GcOrder(_Order):
    """Remove builds beyond the newest ones."""

    keep: int = Field(default=3, ge=1, le=1000)
