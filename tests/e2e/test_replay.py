"""Fifty recorded asks, run again: fifty identical verdicts on identical evidence."""

from __future__ import annotations

import re

import httpx

from tests.e2e.installation import CORPUS, Process


def questions() -> list[str]:
    """Return fifty questions: sentences of the corpus, and others that it cannot answer."""
    text = " ".join(path.read_text() for path in sorted(CORPUS.glob("*.md")))
    sentences = [" ".join(each.split()) for each in re.split(r"(?<=[.])\s", text)]
    known = [f"Is it true that {each[:150]}" for each in sentences if len(each) > 40]
    unknown = [f"What is the capital of country number {number}?" for number in range(50)]
    return [*known[:35], *unknown][:50]


def test_replaying_fifty_asks_gives_fifty_identical_verdicts(
    client: httpx.Client, plain_api: Process
) -> None:
    statuses: set[str] = set()
    for question in questions():
        asked = client.post(f"{plain_api.url}/ask", json={"question": question}).json()
        statuses.add(asked["status"])
        found = client.post(f"{plain_api.url}/asks/{asked['id']}/replay").json()
        assert (found["same_verdict"], found["same_evidence"]) == (True, True), found
    assert statuses == {"answered", "abstained"}
