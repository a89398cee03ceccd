"""Takes the pictures of the documentation: ``python -m tests.browser.pictures --url ADDRESS``.

The pictures are of the real page over the sample corpus, so that they show what a reader gets.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.launching import SWITCHES
from tests.services import find_chromium

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
LIMIT_BYTES = 200_000
COLOURS = 200
ANSWERED = "What happens when a generator function is called?"
REFUSED = "How long should I boil an egg for a runny yolk?"


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture.

    Attributes:
        question: Asked before the picture is taken; empty for the start page.
        has_trace: Whether the record is followed after the answer.
    """

    name: str
    question: str
    width: int = 1440
    height: int = 900
    scheme: Literal["light", "dark"] = "light"
    has_trace: bool = False


SCENES = (
    Scene("start", ""),
    Scene("answer", ANSWERED),
    Scene("answer-dark", ANSWERED, scheme="dark"),
    Scene("answer-phone", ANSWERED, width=390, height=844),
    Scene("refusal", REFUSED),
    Scene("record", ANSWERED, has_trace=True),
)


def main() -> int:
    """Take every picture; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.pictures", description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    url = parser.parse_args().url
    executable = find_chromium()
    if executable is None:
        sys.stderr.write("a chromium is needed\n")
        return 1
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=SWITCHES)
        sizes = {scene.name: take(browser, url, scene) for scene in SCENES}
        browser.close()
    for name, size in sizes.items():
        sys.stdout.write(f"{name}.png {size} bytes\n")
    return int(max(sizes.values()) > LIMIT_BYTES)


def take(browser: Browser, url: str, scene: Scene) -> int:
    """Take one picture; returns its size in bytes."""
    context = browser.new_context(
        viewport={"width": scene.width, "height": scene.height},
        color_scheme=scene.scheme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(url)
    if scene.question:
        ask(page, scene)
    page.evaluate("document.activeElement.blur()")
    picture = Image.open(BytesIO(page.screenshot(animations="disabled")))
    context.close()
    path = IMAGES / f"{scene.name}.png"
    # A palette keeps the page's few colours exactly and makes the file a third as large.
    picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    return path.stat().st_size


def ask(page: Page, scene: Scene) -> None:
    """Ask a scene's question and wait for what came of it."""
    page.fill("#question", scene.question)
    page.keyboard.press("Enter")
    page.wait_for_selector("#result [data-done]")
    if scene.has_trace:
        page.click("a[href^='/history/']")
        page.wait_for_selector(".follow")


if __name__ == "__main__":
    sys.exit(main())
