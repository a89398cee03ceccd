"""What the desk says another rule would do is what evaluations measure and what then happens."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from backend.contract import AskResponse
from backend.pages.templates import format_share
from backend.verdict.calibration_artefact import Target
from evals.abstention import AbstentionSummary, evaluate_fixed
from evals.entry import default_profiles
from evals.kept import keep_artefact
from evals.observations import observe_set
from evals.served import open_served
from evals.sets import load_set
from evals.verdicts import calibrate_served, eval_abstention
from evals.workbench import open_workbench
from ingestion.settings import IngestionSettings
from storage import migrate
from storage.calibrations import CalibrationStore
from storage.database import Database
from tests.e2e.conftest import StartApi
from tests.e2e.installation import Installation

ANSWERABLE = (
    "How often is a failed job retried?",
    "How do I turn retries off?",
    "Is a job that was cancelled by hand retried?",
    "What does the exit status 75 mean?",
    "How long is the last output of an attempt kept?",
    "What is the time limit of a job?",
    "Which signal does a job receive at its limit?",
    "Does a job stopped at its limit count as failed?",
    "On which port does the console listen?",
    "On which port is the worker protocol?",
    "Where are the ports changed?",
    "Do workers open connections to the scheduler?",
    "On which port are metrics served?",
    "How long are worker certificates valid?",
    "How is a worker with an ended certificate shown?",
    "How does a lost worker join again?",
    "How are certificates of an outside authority set?",
    "How do I rotate the signing key?",
    "How long does the old signing key stay valid?",
    "Which role does rotation need?",
    "When does a full backup run?",
    "How long are backups kept?",
    "How do I restore a backup?",
    "How often do incremental backups run?",
)
UNANSWERABLE = (
    "How do I boil an egg?",
    "What is a prime number?",
    "Who won the football match?",
    "How often should tomato plants be watered?",
    "Which bus goes to the airport?",
    "How do I change the tyre of a bicycle?",
    "How many days of vacation do I get?",
    "What is the capital of Peru?",
    "How do I train a puppy?",
    "When does the museum open?",
    "How is bread dough kneaded?",
    "Which paint covers old wood?",
    "How do I buy a train ticket?",
    "What does a piano tuner cost?",
    "How far away is the moon?",
    "Which key signature has three sharps?",
    "How is a sweater washed?",
    "When do salmon migrate?",
    "How do I open a port wine bottle?",
    "Which worker bees guard the hive?",
    "How long does a job interview last?",
    "What is a birth certificate needed for?",
    "How do I back up a trailer into a driveway?",
    "Which console table fits a small hall?",
)
TARGET = Target(kind="over_refusal", limit=0.05)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A database of its own: other tests record questions, too."""
    url = f"sqlite:///{tmp_path}/own.db"
    migrate.upgrade(url)
    opened = Database(url)
    yield opened
    asyncio.run(opened.close())


def ask(client: httpx.Client, url: str, question: str) -> AskResponse:
    reply = client.post(f"{url}/ask", json={"question": question})
    assert reply.is_success, reply.text
    return AskResponse.model_validate(reply.json())


def look(client: httpx.Client, url: str, **fields: str) -> LexborHTMLParser:
    reply = client.get(f"{url}/what-if", params=fields)
    assert reply.is_success, reply.text
    return LexborHTMLParser(reply.text)


def figure(page: LexborHTMLParser, place: int) -> str:
    return page.css(".figures dd")[place].text()


async def measure_fixed(
    folder: Path, settings: IngestionSettings, threshold: float
) -> AbstentionSummary:
    async with (
        open_workbench(settings) as bench,
        open_served(settings, bench, default_profiles()) as served,
    ):
        observations = await observe_set(served, load_set(folder))
    return evaluate_fixed(observations, threshold).summary()


def test_labelled_records_calibrate_the_guard_as_the_desk_showed(
    installation: Installation,
    start_api: StartApi,
    client: httpx.Client,
    database: Database,
    tmp_path: Path,
) -> None:
    settings = IngestionSettings(data_dir=installation.folder)
    api = start_api(VOUCH_DATABASE_URL=f"sqlite:///{tmp_path}/own.db")
    before: dict[str, bool] = {}
    for question in (*ANSWERABLE, *UNANSWERABLE):
        response = ask(client, api.url, question)
        assert response.search_question == question
        before[question] = response.guard.passed
        is_right = (response.status == "answered") is (question in ANSWERABLE)
        wrong = "should_have_answered" if question in ANSWERABLE else "should_have_refused"
        label = {"label": "right" if is_right else wrong}
        labelled = client.post(f"{api.url}/history/{response.id}/label", data=label)
        assert labelled.status_code == httpx.codes.SEE_OTHER
    archive = client.get(f"{api.url}/labelled.zip").content
    ZipFile(BytesIO(archive)).extractall(tmp_path)
    folder = tmp_path / "labelled"

    fixed = look(client, api.url, rule="fixed")
    threshold = float(fixed.css("#threshold")[0].attributes["value"] or "nan")
    made, _ = asyncio.run(calibrate_served(folder, settings, TARGET))
    exported = tmp_path / "artefact.json"
    exported.write_text(made.artefact.model_dump_json())
    store = CalibrationStore(database)
    kept = asyncio.run(keep_artefact(database, made.artefact))
    asyncio.run(store.withdraw(kept))

    # Not in force, and yet it can be tried.
    shown = look(client, api.url, rule=kept)
    turned = {link.text() for link in shown.css("tbody th a")}
    measured, _ = asyncio.run(
        eval_abstention(folder, settings, calibration=exported, threshold_cosine=threshold)
    )
    by_cosine = asyncio.run(measure_fixed(folder, settings, threshold))
    for page, summary in ((shown, measured), (fixed, by_cosine)):
        assert figure(page, 1) == str(len(before))
        assert figure(page, 3) == format_share(1 - summary.refusal_recall)
        assert figure(page, 4) == format_share(summary.over_refusal)

    # Put in force, it changes the verdicts that the desk said it would, and no other.
    asyncio.run(keep_artefact(database, made.artefact))
    api.stop()
    api.start()
    after = {question: ask(client, api.url, question).guard.passed for question in before}
    assert {question for question in before if before[question] != after[question]} == turned
    assert turned
