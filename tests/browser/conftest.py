"""A real chromium over pages served on loopback."""

from __future__ import annotations

import importlib.resources
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from tests.browser.launching import SWITCHES
from tests.browser.serving import Serving, serve
from tests.browser.stack import ingest, write_corpus
from tests.browser.stage import StagedServices, create_stage
from tests.services import require, require_chromium

ROOT = Path(__file__).resolve().parents[2]
ARTIFACTS = ROOT / "artifacts" / "screenshots"
HTMX = ROOT / "frontend" / "static" / "vendor" / "htmx.min.js"

# A busy machine may take a while to show what is waited for; a wrong page never shows it.
expect.set_options(timeout=30_000)


# Not for the whole session: while it lives, its event loop counts as running in this thread, and
# asynchronous tests of other packages could not start theirs.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    executable = require_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=SWITCHES)
        yield browser
        browser.close()


@dataclass
class Stage:
    """The staged application and what may be done to it from a test."""

    serving: Serving
    services: StagedServices

    @property
    def url(self) -> str:
        return self.serving.url

    def hold(self) -> None:
        """Keep asks from their verdict."""
        self.serving.run(self.services.gate.clear)

    def release(self) -> None:
        self.serving.run(self.services.gate.set)


@pytest.fixture(scope="session")
def serving_stage() -> Iterator[Stage]:
    made: list[StagedServices] = []

    def make() -> FastAPI:
        made.append(StagedServices())
        return create_stage(made[0])

    with serve(make) as serving:
        yield Stage(serving=serving, services=made[0])


@pytest.fixture
def stage(serving_stage: Stage) -> Iterator[Stage]:
    """The stage as new."""
    yield serving_stage
    serving_stage.release()
    serving_stage.services.is_down = False
    serving_stage.services.asked.clear()
    serving_stage.services.feedback.clear()
    serving_stage.serving.run(serving_stage.services.cancelled.clear)


@dataclass
class Visit:
    """One page and everything it complained about."""

    page: Page
    complaints: list[str] = field(default_factory=list[str])
    requests: list[str] = field(default_factory=list[str])

    def ask(self, question: str) -> None:
        """Type a question, press Enter and wait for what came of it."""
        self.page.fill("#question", question)
        self.page.keyboard.press("Enter")
        end = self.page.wait_for_selector("#result [data-done], #result .problem")
        assert end is not None
        assert end.get_attribute("data-done") is not None, end.inner_text()


OpenPage = Callable[..., Visit]


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens pages; a page may not log an error unless the test reads the complaints itself."""
    contexts: list[BrowserContext] = []
    visits: list[Visit] = []

    def open_one(
        url: str,
        *,
        width: int = 1440,
        height: int = 900,
        scheme: str = "light",
        has_script: bool = True,
    ) -> Visit:
        if has_script:
            require(present=HTMX.is_file(), what="htmx, which comes with npm,")
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            java_script_enabled=has_script,
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(60_000)
        contexts.append(context)
        visit = Visit(page=context.new_page())
        visits.append(visit)

        def note_request(request: Request) -> None:
            visit.requests.append(request.url)

        visit.page.on("request", note_request)
        visit.page.on(
            "console",
            lambda message: (
                visit.complaints.append(message.text) if message.type == "error" else None
            ),
        )
        visit.page.on("pageerror", lambda error: visit.complaints.append(str(error)))
        visit.page.goto(url)
        return visit

    yield open_one
    for context in contexts:
        context.close()
    for visit in visits:
        assert visit.complaints == []


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a small corpus in its index."""
    folder = tmp_path_factory.mktemp("stack")
    ingest(write_corpus(folder / "handbook"), folder / "data")
    return folder / "data"


class Inspector:
    """Looks at pages: with the accessibility engine, and by keeping their pictures."""

    def __init__(self) -> None:
        package = importlib.resources.files("axe_playwright_python")
        self._engine = package.joinpath("axe.min.js").read_text(encoding="utf-8")
        ARTIFACTS.mkdir(parents=True, exist_ok=True)

    def violations(self, page: Page) -> list[str]:
        """Return the accessibility violations of a page, each with where it is."""
        page.evaluate(self._engine)
        found: list[str] = page.evaluate(
            "async () => (await axe.run()).violations.flatMap("
            "v => v.nodes.map(n => `${v.id}: ${n.target} ${n.failureSummary}`))"
        )
        return found

    def keep(self, page: Page, name: str) -> None:
        """Keep a picture of what is on the screen among the build artefacts."""
        page.screenshot(path=ARTIFACTS / f"{name}.png", animations="disabled")


@pytest.fixture(scope="session")
def inspector() -> Inspector:
    return Inspector()
