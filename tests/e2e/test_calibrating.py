"""Calibrating a served system from the command line, and finding out that it no longer holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from backend.contract import GuardView
from tests.e2e import lantern
from tests.e2e.installation import ROOT, Installation, Process

_COMMAND_SECONDS = 300


@dataclass(frozen=True)
class Served:
    """A running system over the Lantern's documentation."""

    installation: Installation
    folder: Path

    def vouch(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command on this system's data, beside its processes."""
        return subprocess.run(
            [sys.executable, "-m", "cli.main", *arguments],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(ROOT),
                "VOUCH_DATA_DIR": str(self.installation.folder),
                "COLUMNS": "200",
            },
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )

    def set_of(self, name: str, positives: Sequence[str], negatives: Sequence[str]) -> Path:
        bands = dict.fromkeys(negatives, "far")
        return lantern.write_set(self.folder / name, positives, bands)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("lantern")
    (folder / "data").mkdir()
    installation = Installation(folder / "data")
    installation.migrate()
    installation.ingest(lantern.write_documentation(folder / "docs"))
    installation.mcp.start()
    yield Served(installation, folder)
    installation.mcp.stop()


@pytest.fixture
def api(served: Served) -> Iterator[Process]:
    process = served.installation.api(VOUCH_RATE_PER_MINUTE="0")
    process.start()
    yield process
    process.stop()


def ask_all(client: httpx.Client, api: Process, questions: Sequence[str]) -> dict[str, object]:
    """Ask every question and return the last answer."""
    body: dict[str, object] = {}
    for question in questions:
        reply = client.post(f"{api.url}/ask", json={"question": question})
        assert reply.status_code == 200, reply.text
        body = reply.json()
    return body


def test_a_shift_of_what_is_asked_is_reported_and_the_calibration_is_let_go(
    served: Served, api: Process, client: httpx.Client
) -> None:
    known, others = lantern.answerable(), lantern.foreign()
    good = served.set_of("good", known, others)
    made = served.vouch("calibrate", str(good), "--reports", str(served.folder / "reports"))
    assert made.returncode == 0, made.stderr
    assert "At 95% confidence at most" in made.stdout
    page = (served.folder / "reports" / "calibration.html").read_text()
    assert page.count("<svg") == 3
    assert "Nearest to the wrong side" in page

    too_few = served.vouch("calibrate", "--check")
    assert (too_few.returncode, "too few to compare" in too_few.stdout) == (0, True)
    body = ask_all(client, api, [*known, *others])
    assert mode_of(body) == "calibrated"
    holds = served.vouch("calibrate", "--check", "--json")
    assert holds.returncode == 0, holds.stdout
    assert json.loads(holds.stdout)["n"] == len(known) + len(others)

    ask_all(client, api, lantern.shifted())
    drifted = served.vouch("calibrate", "--check")
    assert drifted.returncode == 1, drifted.stdout
    said = " ".join(drifted.stdout.split())
    assert "differ from those of the calibration: " in said
    assert "its bound no longer holds for them, calibrate again" in said
    assert "drifted" in said

    api.stop()
    api.start()
    after = ask_all(client, api, known[:1])
    assert mode_of(after) == "fixed"
    assert after["degraded"] == ["calibration_void"]


def mode_of(body: dict[str, object]) -> str:
    return GuardView.model_validate(body["guard"]).mode


def test_a_calibration_of_another_chunker_fails_its_check(served: Served) -> None:
    good = served.set_of("portable", lantern.answerable(), lantern.foreign())
    exported = served.folder / "portable.json"
    made = served.vouch("calibrate", str(good), "--dry-run", "--export", str(exported))
    assert "not kept" in made.stdout, made.stderr
    artefact = json.loads(exported.read_text())
    artefact["stamp"]["chunker"] = "another/1"
    exported.write_text(json.dumps(artefact))
    assert served.vouch("calibrate", "--import", str(exported)).returncode == 0
    checked = served.vouch("calibrate", "--check")
    assert checked.returncode == 1
    assert "another chunker than the calibration, so it is void" in checked.stdout


def test_classes_that_overlap_are_refused_with_the_questions_at_fault(served: Served) -> None:
    known = lantern.answerable()
    others = lantern.foreign()
    mixed = served.set_of("mixed", [*known[0::2], *others[0::2]], [*known[1::2], *others[1::2]])
    refused = served.vouch("calibrate", str(mixed))
    assert refused.returncode == 1
    said = " ".join(refused.stderr.split())
    assert "calibration_refused: the classes do not separate" in said
    assert any(question in said for question in known[1::2])
    assert any(question in said for question in others[0::2])
    assert "nearest: What the" in said


def test_too_few_questions_point_to_synthetic_ones_which_are_marked(served: Served) -> None:
    folder = served.set_of("bare", lantern.answerable(), ())
    refused = served.vouch("calibrate", str(folder))
    assert refused.returncode == 1
    assert "`vouch negatives` makes unanswerable ones" in " ".join(refused.stderr.split())
    output = folder / "synthetic.jsonl"
    made = served.vouch("negatives", "--count", "24", "--output", str(output), "--json")
    rows = json.loads(made.stdout)["questions"]
    assert len(rows) == 24
    assert {row["band"] for row in rows} == {"synthetic_held_out"}
    assert [json.loads(line) for line in output.read_text().splitlines()] == rows
    done = served.vouch("calibrate", str(folder), "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    artefact = json.loads(done.stdout)
    assert artefact["name"] == "bare (with synthetic negatives)"
    assert "synthetic_held_out" in artefact["operating"]["by_band"]
