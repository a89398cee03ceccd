"""Log lines: JSON for machines, with the request id, and nothing that should not be there."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.logs import accept_request_id, configure_logging, get_logger, request_id
from service.settings import ServiceSettings
from tests.environment import environment


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    for handler in root.handlers[:]:
        if handler not in handlers:
            handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)


def lines_of(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def settings(**variables: str) -> ServiceSettings:
    with environment(**variables):
        return ServiceSettings()


def test_a_line_is_json_with_process_and_request_id() -> None:
    stream = io.StringIO()
    configure_logging(settings(), process="mcp", stream=stream)
    token = request_id.set("abc")
    get_logger("part").info("tool_call", tool="search_kb", chunk_ids=("a",))
    request_id.reset(token)
    (line,) = lines_of(stream)
    assert line["event"] == "tool_call"
    assert line["process"] == "mcp"
    assert line["request_id"] == "abc"
    assert line["chunk_ids"] == ["a"]


def test_the_libraries_write_the_same_kind_of_line() -> None:
    stream = io.StringIO()
    configure_logging(settings(), process="api", stream=stream)
    logging.getLogger("uvicorn.error").info("Started %s", "now", extra={"color_message": "x"})
    (line,) = lines_of(stream)
    assert line["event"] == "Started now"
    assert line["logger"] == "uvicorn.error"
    assert "color_message" not in line


def test_a_traceback_holds_no_local_variables() -> None:
    stream = io.StringIO()
    configure_logging(settings(), process="api", stream=stream)
    password = "hunter2"
    try:
        _ = ()[len(password)]
    except IndexError:
        get_logger("part").exception("failed")
    assert "hunter2" not in stream.getvalue()
    assert "IndexError" in stream.getvalue()


def test_a_terminal_gets_readable_lines() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    configure_logging(settings(), process="api", stream=stream)
    get_logger("part").info("started")
    assert "started" in stream.getvalue()
    assert not stream.getvalue().startswith("{")


def test_the_level_comes_from_the_environment() -> None:
    stream = io.StringIO()
    configure_logging(settings(VOUCH_LOG_LEVEL="ERROR"), process="api", stream=stream)
    get_logger("part").warning("not this")
    get_logger("part").error("this")
    assert [line["event"] for line in lines_of(stream)] == ["this"]


def test_a_directory_gets_a_file_of_the_process(tmp_path: Path) -> None:
    configure_logging(settings(VOUCH_LOG_DIR=str(tmp_path / "logs")), process="worker")
    get_logger("part").info("written")
    text = (tmp_path / "logs" / "worker.log").read_text()
    assert json.loads(text)["event"] == "written"


@pytest.mark.parametrize("offered", ["abc-123_X", "0" * 64])
def test_a_fit_request_id_is_kept(offered: str) -> None:
    assert accept_request_id(offered) == offered


@pytest.mark.parametrize("offered", [None, "", "--", "a b", 'a"', "é", "0" * 65, "a\nb"])
def test_an_unfit_request_id_is_replaced(offered: str | None) -> None:
    accepted = accept_request_id(offered)
    assert accepted != offered
    assert accepted.isalnum()
