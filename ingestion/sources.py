"""What can be ingested, and the names under which it is found again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ingestion.addresses import check_url
from ingestion.errors import SourceError
from ingestion.sample import DOCS_LEFT_OUT, DOCS_SOURCE, REFERENCE_SOURCE, docs_folder
from storage.source_names import check_source_name

SourceKind = Literal["reference", "path", "url"]


@dataclass(frozen=True, slots=True)
class Source:
    """One body of documents that is replaced as a whole when it is ingested again.

    Attributes:
        name: Unit of filtering and deletion, shown beside every citation.
        location: A path or an address; empty for the packaged reference.
        base_url: Address under which a path's files are published; empty when they are not.
        labels: Access labels of every document in it; empty means public.
        glob: Pattern of a folder's files, relative to it; empty takes all.
        left_out: Pattern of a folder's files that are not taken, relative to it.
    """

    name: str
    kind: SourceKind
    location: str = ""
    base_url: str = ""
    labels: tuple[str, ...] = ()
    glob: str = ""
    left_out: str = ""


def sample_sources() -> tuple[Source, ...]:
    """Return the sample corpus: the Python language reference and our own documentation."""
    reference = Source(REFERENCE_SOURCE, "reference")
    folder = docs_folder()
    if not folder.is_dir():
        return (reference,)
    return (reference, Source(DOCS_SOURCE, "path", str(folder), left_out=DOCS_LEFT_OUT))


def source_from(
    argument: str,
    *,
    name: str = "",
    base_url: str = "",
    labels: tuple[str, ...] = (),
    glob: str = "",
) -> Source:
    """Return the source that a command line argument names: a path or an address.

    Args:
        argument: What to read.
        name: Of the source; empty takes it from the argument.
        base_url: Address under which a path's files are published; empty when they are not.
        labels: Access labels of every document in it.
        glob: Pattern of a folder's files; empty takes all.

    Raises:
        SourceError: The address is neither http nor https, nothing is at the path, or the argument
            cannot have a base address or a pattern.
    """
    if base_url:
        check_url(base_url)
    if glob and not Path(argument).expanduser().is_dir():
        raise SourceError(f"{argument}: only a folder has files to match {glob!r}")
    if "://" in argument:
        if base_url:
            raise SourceError(f"{argument}: has an address of its own, {base_url} cannot be added")
        host, _ = check_url(argument)
        return Source(_checked(name or host), "url", argument, labels=labels)
    path = Path(argument).expanduser()
    if not path.exists():
        raise SourceError(f"{argument}: nothing there")
    default = path.resolve().name if path.is_dir() else path.stem
    return Source(_checked(name or default), "path", str(path), base_url.rstrip("/"), labels, glob)


def _checked(name: str) -> str:
    try:
        return check_source_name(name)
    except ValueError as error:
        raise SourceError(f"{name!r}: {error}; give another one with --name") from error
