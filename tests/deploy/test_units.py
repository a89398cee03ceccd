"""The systemd units: verified by systemd itself, and how far they are confined."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.services import require

SYSTEMD = Path(__file__).resolve().parents[2] / "systemd"
UNITS = ("vouch-mcp", "vouch-api", "vouch-worker", "vouch-embeddings")
# systemd rates 0 (nothing exposed) to 10; its own default for a plain service is 9.6.
MOST_EXPOSED = 1.6


def analyse(*arguments: str) -> subprocess.CompletedProcess[str]:
    tool = shutil.which("systemd-analyze")
    require(present=tool is not None, what="systemd-analyze")
    return subprocess.run(
        [tool or "", *arguments], check=False, capture_output=True, text=True, timeout=60
    )


def text_of(unit: str) -> str:
    return (SYSTEMD / f"{unit}.service").read_text()


def settings_of(environment: str) -> set[str]:
    text = (SYSTEMD / "env" / f"{environment}.env").read_text()
    return set(re.findall(r"^([A-Z_]+)=", text, flags=re.MULTILINE))


@pytest.mark.parametrize("unit", UNITS)
def test_systemd_finds_nothing_wrong_with_a_unit(unit: str, tmp_path: Path) -> None:
    # The program is where an installation has it, which is not here.
    copy = tmp_path / f"{unit}.service"
    copy.write_text(text_of(unit).replace("/opt/vouch/.venv/bin/vouch", "/bin/true"))
    checked = analyse("verify", "--man=no", str(copy))
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_is_hardly_exposed(unit: str) -> None:
    path = str(SYSTEMD / f"{unit}.service")
    checked = analyse("security", "--offline=yes", f"--threshold={MOST_EXPOSED * 10:.0f}", path)
    assert checked.returncode == 0, checked.stdout[-300:]


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_restarts_within_limits_and_stops_gracefully(unit: str) -> None:
    text = text_of(unit)
    assert f"Restart={'on-failure' if unit == 'vouch-worker' else 'always'}\n" in text
    for line in ("StartLimitBurst=10", "KillSignal=SIGTERM", "WantedBy=multi-user.target"):
        assert line in text


def test_each_process_has_a_user_and_an_environment_of_its_own() -> None:
    users = (SYSTEMD / "vouch-users.conf").read_text()
    for unit in UNITS:
        assert f"User={unit}\n" in text_of(unit)
        assert f"u {unit} " in users
        assert f"EnvironmentFile=/etc/vouch/{unit.removeprefix('vouch-')}.env" in text_of(unit)


def test_the_api_is_given_no_index_and_nothing_else_a_model() -> None:
    assert not {name for name in settings_of("api") if name.startswith("QDRANT")}
    for environment in ("mcp", "worker", "embeddings", "common"):
        assert not {name for name in settings_of(environment) if name.startswith("OPENAI")}
    assert "OPENAI_API_KEY" in settings_of("api")


def test_no_environment_file_ships_with_a_secret_in_it() -> None:
    for path in (SYSTEMD / "env").iterdir():
        for line in path.read_text().splitlines():
            name, _, value = line.partition("=")
            if name.endswith(("_KEY", "_TOKEN", "DATABASE_URL", "BROKER_URL")):
                assert value == "", f"{path.name}: {name}"


def test_the_folder_of_the_index_belongs_to_both_who_write_it() -> None:
    assert "2770 root vouch-index" in (SYSTEMD / "vouch-tmpfiles.conf").read_text()
    for unit in ("vouch-mcp", "vouch-worker"):
        assert "Group=vouch-index\n" in text_of(unit)
        assert "ReadWritePaths=/var/lib/vouch\n" in text_of(unit)
