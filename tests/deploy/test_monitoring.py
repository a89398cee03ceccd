"""Every metric that dashboard and alert rules name is in a real scrape, and the rules are valid."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests import scripted_model
from tests.e2e.installation import ROOT, Installation, Process, pick_port
from tests.services import require

# Several processes are started, which takes long on a busy machine.
pytestmark = pytest.mark.timeout(400)

MONITORING = ROOT / "deploy" / "monitoring"
RUNBOOKS = ROOT / "docs" / "runbooks.md"
_METRIC = re.compile(r"\b(?:vouch|process)_[a-z_]+\b")
# Labels of series, not metrics.
_LABELS = {"process"}


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"]
    return group["rules"]


def panels() -> list[dict[str, Any]]:
    return json.loads((MONITORING / "grafana-dashboard.json").read_text())["panels"]


def named() -> set[str]:
    expressions = [rule["expr"] for rule in rules()]
    expressions += [target["expr"] for panel in panels() for target in panel["targets"]]
    return {name for text in expressions for name in _METRIC.findall(text)} - _LABELS


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, set[str]]]:
    """Return the names in the scrape of each process, after one answer and one refusal."""
    made = Installation(tmp_path_factory.mktemp("monitored"))
    made.prepare()
    port = pick_port()
    worker = Process(
        "ingestion.worker",
        f"http://127.0.0.1:{port}",
        {"VOUCH_DATA_DIR": str(made.folder), "VOUCH_WORKER_METRICS_PORT": str(port)},
        made.folder / "worker.log",
    )
    with ExitStack() as stack:
        model = stack.enter_context(scripted_model.serve())
        api = made.api(OPENAI_BASE_URL=model.url, VOUCH_MODEL="scripted")
        processes = {"mcp": made.mcp, "api": api, "embeddings": made.embeddings(), "worker": worker}
        client = stack.enter_context(httpx.Client(timeout=60, trust_env=False))
        for process in processes.values():
            process.start(alive_is_enough=True)
            stack.callback(process.stop)
        for question in ("How do I rotate the signing key?", "What is a prime number?"):
            assert client.post(f"{api.url}/ask", json={"question": question}).status_code == 200
        yield {
            name: names_in(client.get(f"{process.url}/metrics").text)
            for name, process in processes.items()
        }


def names_in(scrape: str) -> set[str]:
    found: set[str] = set()
    for family in text_string_to_metric_families(scrape):
        found.add(family.name)
        if family.type == "counter":
            found.add(f"{family.name}_total")
        if family.type == "histogram":
            found |= {f"{family.name}_{part}" for part in ("bucket", "count", "sum")}
    return found


def test_every_metric_that_is_named_is_in_a_scrape(scraped: dict[str, set[str]]) -> None:
    assert named() - set[str]().union(*scraped.values()) == set()


def test_each_process_says_which_it_is(scraped: dict[str, set[str]]) -> None:
    assert all("vouch_process_info" in names for names in scraped.values())


def test_every_alert_has_a_runbook_that_is_there() -> None:
    headings = re.findall(r"^## (.+)$", RUNBOOKS.read_text(), re.MULTILINE)
    anchors = {heading.lower().replace(" ", "-") for heading in headings}
    for rule in rules():
        page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
        assert (ROOT / page) == RUNBOOKS
        assert anchor in anchors


def test_promtool_accepts_the_rules_and_the_configuration(tmp_path: Path) -> None:
    promtool = shutil.which("promtool")
    require(present=promtool is not None, what="promtool")
    key = tmp_path / "key"
    key.write_text("key")
    shutil.copy(MONITORING / "alerts.yaml", tmp_path)
    configuration = (MONITORING / "prometheus.yaml").read_text()
    (tmp_path / "prometheus.yaml").write_text(
        configuration.replace("/etc/prometheus/vouch-metrics-key", str(key))
    )
    checks = (["check", "rules", "alerts.yaml"], ["check", "config", "prometheus.yaml"])
    for arguments in checks:
        done = subprocess.run(
            [str(promtool), *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
