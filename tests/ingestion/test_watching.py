from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from ingestion.sources import source_from
from ingestion.watching import Fingerprint, changes, fingerprint


def test_a_file_that_comes_changes_or_goes_is_noticed(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    sources = [source_from(str(docs))]
    seen = [fingerprint(sources)]
    (docs / "a.md").write_text("one")
    seen.append(fingerprint(sources))
    (docs / "a.md").write_text("one and more")
    seen.append(fingerprint(sources))
    (docs / ".hidden").write_text("x")
    assert fingerprint(sources) == seen[-1]
    (docs / "a.md").unlink()
    assert fingerprint(sources) == seen[0]
    assert len(set(seen)) == 3


def looks(*states: str) -> Callable[[], Fingerprint]:
    left = iter(states)
    return lambda: frozenset({(next(left), 0, 0)})


async def test_a_change_is_told_once_and_not_before_it_has_settled() -> None:
    states = ("a", "a", "b", "c", "c", "c", "d", "d")
    told_after: list[int] = []
    count = 0

    async def pause() -> None:
        nonlocal count
        count += 1
        await asyncio.sleep(0)

    watching = changes(looks(*states), pause)
    for _ in range(2):
        await anext(watching)
        told_after.append(count)
    await watching.aclose()
    assert told_after == [4, 7]
