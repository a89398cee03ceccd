"""What ``vouch up`` starts before it serves, and what it does not load for that."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from retrieval.opening import open_catalog, open_embedder, reader_stamp
from retrieval.settings import RetrievalSettings
from tests.environment import environment

ROOT = Path(__file__).resolve().parents[2]


def _environment(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "VOUCH_DATA_DIR": str(folder)}


def test_the_first_indexing_ends_with_its_launcher_even_when_that_is_killed(
    tmp_path: Path,
) -> None:
    variables = _environment(tmp_path)
    launch = f"from cli.up import build_sample_index; build_sample_index({variables!r})"
    launcher = subprocess.Popen([sys.executable, "-c", launch], env=variables, cwd=tmp_path)
    process = psutil.Process(launcher.pid)
    while not (children := process.children()):
        assert launcher.poll() is None
    launcher.kill()
    launcher.wait(20)
    # It may be anywhere between its first import and its last write.
    gone, alive = psutil.wait_procs(children, timeout=60)
    for one in alive:
        one.kill()
    assert (len(gone), alive) == (1, [])


def test_whether_a_build_can_be_read_is_known_without_loading_the_model(tmp_path: Path) -> None:
    look = (
        "import sys; from retrieval.opening import reader_stamp; "
        "from retrieval.settings import RetrievalSettings; "
        "stamp = reader_stamp(RetrievalSettings()); "
        "assert 'onnxruntime' not in sys.modules; print(stamp.model_dump_json())"
    )
    run = subprocess.run(
        [sys.executable, "-c", look], env=_environment(tmp_path), cwd=ROOT, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    with environment(VOUCH_DATA_DIR=str(tmp_path)):
        settings = RetrievalSettings()
    stamp, embedder = reader_stamp(settings), open_embedder(settings)
    assert run.stdout.strip() == stamp.model_dump_json()
    assert (stamp.embedding_model, stamp.dimension) == (embedder.spec.name, embedder.spec.dimension)
    assert stamp.model_digest == embedder.digest
    assert stamp.query_prefix == embedder.spec.query_prefix


@pytest.mark.timeout(180)
def test_a_build_that_is_being_served_is_verified(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Alpha\n\nThe first fact of this page.\n")
    variables = _environment(tmp_path / "data")
    vouch = [sys.executable, "-m", "cli.main"]
    subprocess.run([*vouch, "ingest", str(docs)], env=variables, cwd=ROOT, check=True)
    with environment(VOUCH_DATA_DIR=str(tmp_path / "data")):
        asyncio.run(_verify_while_served(RetrievalSettings(), [*vouch, "verify"], variables))
    assert not list((tmp_path / "data").glob("verify-*"))


async def _verify_while_served(
    settings: RetrievalSettings, command: list[str], variables: dict[str, str]
) -> None:
    catalog = open_catalog(settings)
    manifest = await catalog.current()
    assert manifest is not None
    opened = await catalog.open(manifest.build)
    try:
        run = await asyncio.to_thread(
            subprocess.run, command, env=variables, cwd=ROOT, capture_output=True, text=True
        )
    finally:
        await opened.store.close()
        await catalog.close()
    assert run.returncode == 0, run.stderr
    assert "is whole: 1 chunks" in run.stdout
