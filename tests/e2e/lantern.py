"""Documentation of a made-up product with labelled questions, large enough to calibrate on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

# Name of a part, what it does, and a fact that only its section states.
_PARTS = (
    ("relay", "forwards signals between buildings", "holds 48 channels"),
    ("dimmer", "lowers the brightness in the evening", "fades over 90 seconds"),
    ("beacon", "marks the harbour entrance", "turns once in 12 seconds"),
    ("ballast", "keeps the current of a tube steady", "is replaced after 6000 hours"),
    ("shutter", "closes in front of the lens", "opens within 40 milliseconds"),
    ("gasket", "seals the housing against water", "is made of silicone"),
    ("bracket", "fixes the lamp to a wall", "carries 15 kilograms"),
    ("lens", "bundles the light", "is ground from borosilicate glass"),
    ("fuse", "protects the wiring", "blows at 4 amperes"),
    ("timer", "switches the lamp on at dusk", "stores 21 programmes"),
    ("solar panel", "charges the battery by day", "delivers 60 watts"),
    ("battery", "feeds the lamp at night", "lasts for 4 nights"),
    ("reflector", "sends light to the front", "is coated with silver"),
    ("controller", "reads every sensor", "restarts after a power cut"),
    ("photocell", "measures daylight", "reacts below 20 lux"),
    ("antenna", "receives commands by radio", "reaches 800 metres"),
    ("firmware", "runs on the controller", "is updated over a cable"),
    ("heater", "melts ice on the glass", "starts at 2 degrees"),
    ("hinge", "lets the cover swing open", "is greased every spring"),
    ("mast", "carries the lamp above the water", "stands 11 metres high"),
    ("ladder", "leads up to the lamp", "must be inspected twice a year"),
    ("cable", "connects the mast with the shore", "lies 80 centimetres deep"),
    ("alarm", "tells the keeper of a failure", "calls three telephone numbers"),
    ("logbook", "records every failure", "is kept for ten years"),
    ("filter", "colours the light", "comes in red, green and white"),
    ("motor", "turns the lens", "runs on 24 volts"),
    ("bearing", "carries the turning lens", "floats on mercury"),
    ("vent", "lets warm air out", "has a grid against insects"),
    ("drain", "leads condensed water away", "is cleaned in October"),
    ("siren", "sounds in fog", "is heard over 5 kilometres"),
)
_FOREIGN_VERBS = ("bake", "translate", "photograph", "insure", "repaint", "transplant")
_FOREIGN_THINGS = ("a rye bread", "a medieval poem", "a newborn foal", "a rented bicycle",
                   "an orange tree")  # fmt: skip


def write_documentation(folder: Path) -> Path:
    """Write one page of each part and return the folder."""
    folder.mkdir(parents=True)
    for name, purpose, fact in _PARTS:
        (folder / f"{name.replace(' ', '-')}.md").write_text(
            f"# The {name}\n\n## What the {name} does\n\nThe {name} of the Lantern {purpose}. "
            f"The {name} {fact}. Order a new {name} from the workshop by its number.\n",
            encoding="utf-8",
        )
    return folder


def answerable() -> tuple[str, ...]:
    """Return a question that each page answers."""
    return tuple(f"What does the {name} of the Lantern do?" for name, _, _ in _PARTS)


def foreign() -> tuple[str, ...]:
    """Return questions about another world."""
    return tuple(
        f"How do I {verb} {thing}?" for verb in _FOREIGN_VERBS for thing in _FOREIGN_THINGS
    )


def shifted() -> tuple[str, ...]:
    """Return questions unlike any of the set: close by their names, full of words nobody knows."""
    return tuple(
        f"lantern {first} {second} zorblat quixel frumious vorpal mimsy"
        for first, _, _ in _PARTS[:6]
        for second, _, _ in _PARTS[6:20]
    )


def write_set(folder: Path, positives: Sequence[str], negatives: Mapping[str, str]) -> Path:
    """Write a labelled set about what is served.

    Args:
        folder: To be made.
        positives: Answerable questions.
        negatives: Unanswerable questions with their bands.
    """
    folder.mkdir(parents=True)
    _write(
        folder / "queries.jsonl",
        [
            {"id": f"a{at}", "question": text, "answerable": True, "kind": "short"}
            for at, text in enumerate(positives)
        ],
    )
    _write(
        folder / "unanswerable.jsonl",
        [
            {"id": f"u{at}", "question": text, "answerable": False, "band": band}
            for at, (text, band) in enumerate(negatives.items())
        ],
    )
    return folder


def _write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
