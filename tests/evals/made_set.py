"""A tiny labelled set on disk, for tests that go the whole way through real models."""

from __future__ import annotations

import json
from pathlib import Path

_SECTIONS = {
    "limits": ("Rate limits", "Each key may send 50 requests a minute. Over it the answer is 429."),
    "keys": ("Rotating keys", "Create a second key, deploy it, then revoke the first one."),
    "backup": ("Backups", "A snapshot is taken every night at two and kept for 30 days."),
    "regions": (
        "Regions",
        "The service runs in Frankfurt and in Ohio. Data never leaves its region.",
    ),
    "billing": ("Billing", "Invoices are sent on the first day of each month, in euros."),
    "webhooks": ("Webhooks", "A failed webhook is tried again five times with growing pauses."),
}
_QUERIES = {
    "How many requests may a key send each minute?": "limits",
    "In which order do I create, deploy and revoke keys when I rotate them?": "keys",
    "For how many days is the nightly snapshot kept?": "backup",
    "In which regions does the service run?": "regions",
    "On which day of the month are invoices sent?": "billing",
    "How often is a failed webhook tried again?": "webhooks",
}
_UNANSWERABLE = {
    "How do I boil an egg?": "far",
    "Which mountain is the highest?": "far",
    "How do I create a bucket in another cloud?": "near",
    "What does the enterprise plan cost?": "adversarial_near",
}


def write_set(folder: Path) -> Path:
    """Write the set and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(
        folder / "corpus.jsonl",
        [
            {
                "id": key,
                "url": f"https://docs.example/{key}",
                "title": key,
                "heading": heading,
                "text": f"{heading}\n\n{text}",
            }
            for key, (heading, text) in _SECTIONS.items()
        ],
    )
    _write(
        folder / "queries.jsonl",
        [
            {"id": f"q{at}", "question": text, "relevant_ids": [key], "answerable": True}
            for at, (text, key) in enumerate(_QUERIES.items())
        ],
    )
    _write(
        folder / "unanswerable.jsonl",
        [
            {"id": f"u{at}", "question": text, "band": band, "answerable": False}
            for at, (text, band) in enumerate(_UNANSWERABLE.items())
        ],
    )
    return folder


def _write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
