"""What a person sees when the machine, not the program, is at fault."""

from __future__ import annotations

import errno
from pathlib import Path

import httpx
import pytest

from cli.failures import report_failures
from cli.secrets import ensure_secrets


def test_a_data_folder_that_cannot_be_written_is_named_without_a_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(SystemExit) as ended, report_failures():
        ensure_secrets(blocked / "data", {})
    shown = " ".join(capsys.readouterr().err.split())
    assert ended.value.code == 1
    assert shown.startswith("file_error: ")
    assert "Not a directory" in shown


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "x.db"), "file_error: x.db: No space"),
        (OSError("odd"), "file_error: odd"),
        (httpx.InvalidURL("Invalid port"), "unreachable: Invalid port"),
    ],
)
def test_failures_of_the_machine_are_one_line(
    error: Exception, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit), report_failures():
        raise error
    assert shown in " ".join(capsys.readouterr().err.split())
