"""Who may see which occurrence, in a form that an index can filter by exactly.

A chunk is visible when it has an occurrence all of whose labels are granted (none means public),
and, when a source is asked for, that very occurrence is in that source. An index filters by
equality only, so each occurrence becomes two keywords on its point: its set of labels, and its
source with that set. A build knows every pair in it; a query asks for those its caller may see.
Both conditions on an occurrence thus sit in one keyword, and no two occurrences can meet them
between them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from retrieval.chunk import Chunk, Occurrence


@dataclass(frozen=True, slots=True, order=True)
class Access:
    """The source and labels of an occurrence.

    Attributes:
        labels: Sorted, each once; empty means public.
    """

    source: str
    labels: tuple[str, ...] = ()

    @property
    def label_key(self) -> str:
        """The set of labels as one keyword; empty when public."""
        return json.dumps(self.labels) if self.labels else ""

    @property
    def key(self) -> str:
        """Source and set of labels as one keyword."""
        return json.dumps((self.source, *self.labels))


def access_of(occurrence: Occurrence) -> Access:
    """Return an occurrence's source and set of labels."""
    return Access(occurrence.source, tuple(sorted(set(occurrence.labels))))


def accesses_of(chunk: Chunk) -> frozenset[Access]:
    """Return the distinct accesses of a chunk's occurrences."""
    return frozenset(access_of(occurrence) for occurrence in chunk.occurrences)


def visible_label_keys(known: Iterable[Access], granted: Iterable[str]) -> list[str]:
    """Return the label sets that a caller with these labels may see, as sorted keywords."""
    held = frozenset(granted)
    return sorted({access.label_key for access in known if held.issuperset(access.labels)})


def visible_source_keys(known: Iterable[Access], granted: Iterable[str], source: str) -> list[str]:
    """Return the keywords of one source's occurrences that a caller may see, sorted."""
    held = frozenset(granted)
    return sorted({a.key for a in known if a.source == source and held.issuperset(a.labels)})
