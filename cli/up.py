"""``vouch up``: the whole system on one machine, from an empty folder to a served page."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from agent.settings import AgentSettings
from backend.settings import ApiSettings
from cli.children import Child, Family
from cli.console import err
from cli.environment import environment_for
from cli.migrate import run_migrate
from cli.secrets import ensure_secrets
from cli.settings import UpSettings, gather_environment, read_settings
from ingestion.settings import IngestionSettings
from ingestion.worker_settings import WorkerSettings
from mcp_server.settings import McpSettings
from service.errors import VouchError
from service.lifeline import LIFELINE_VARIABLE

_PORTS_TRIED = 50


class StartError(VouchError):
    """The system cannot be started; the message says what to do."""

    code = "cannot_start"


def run_up(*, dotenv: Path = Path(".env")) -> None:
    """Start everything and stay until Ctrl-C or SIGTERM.

    Raises:
        StartError: The port is taken or the sample index cannot be built.
        ChildFailedError: A process does not come up or keeps dying.
    """
    environment = gather_environment(dotenv)
    settings = read_settings(UpSettings, environment)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    _require_free(settings.host, settings.port)
    mcp_port = _next_free(settings.mcp_port)
    environment = ensure_secrets(settings.data_dir, environment) | {
        "VOUCH_DATA_DIR": str(settings.data_dir.resolve()),
        "VOUCH_PORT": str(settings.port),
        "VOUCH_MCP_PORT": str(mcp_port),
        "VOUCH_MCP_URL": f"http://127.0.0.1:{mcp_port}",
    }
    run_migrate(settings, quiet=True)
    build_sample_index(environment)
    asyncio.run(_serve(settings, environment, mcp_port))


def build_sample_index(environment: Mapping[str, str]) -> None:
    """Build the sample index when no build is published yet, in a process of its own.

    A process of its own gives the model's memory back before anything is served.

    Raises:
        StartError: The build failed; its own output says why.
    """
    command = [sys.executable, "-m", "cli.main", "ingest", "--sample", "--if-empty"]
    child_environment = environment_for([IngestionSettings, UpSettings], environment)
    # The pipe is its lifeline: it ends with this process, however that one goes.
    # The command is this interpreter and this project's own module; nothing comes from outside.
    with subprocess.Popen(  # noqa: S603
        command, env={**child_environment, LIFELINE_VARIABLE: "1"}, stdin=subprocess.PIPE
    ) as building:
        code = building.wait()
    if code != 0:
        raise StartError("the sample index could not be built; the lines above say why")


def plan_children(
    settings: UpSettings, environment: Mapping[str, str], mcp_port: int
) -> list[Child]:
    """Return the processes of this installation, each with its own part of the environment."""
    logs = settings.log_dir or settings.data_dir / "logs"
    shown_host = "127.0.0.1" if settings.host in {"0.0.0.0", "::"} else settings.host  # noqa: S104
    return [
        Child(
            module="mcp_server",
            environment=environment_for([McpSettings], environment),
            health_url=f"http://127.0.0.1:{mcp_port}/healthz",
            log=logs / "mcp.log",
        ),
        Child(
            module="backend",
            environment=environment_for([ApiSettings, AgentSettings], environment),
            health_url=f"http://{shown_host}:{settings.port}/healthz",
            log=logs / "api.log",
        ),
        Child(
            module="ingestion.worker",
            environment=environment_for([WorkerSettings], environment),
            health_url=None,
            log=logs / "worker.log",
        ),
    ]


async def _serve(settings: UpSettings, environment: Mapping[str, str], mcp_port: int) -> None:
    family = Family(plan_children(settings, environment, mcp_port), say=err.print)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for wanted in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(wanted, stop.set)
    starting = asyncio.create_task(family.start())
    waiting = asyncio.create_task(stop.wait())
    await asyncio.wait({starting, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if starting.done() and not stop.is_set():
        starting.result()
        _announce(settings)
        watching = asyncio.create_task(family.watch())
        await asyncio.wait({watching, waiting}, return_when=asyncio.FIRST_COMPLETED)
        await _finish(family, watching, err.print)
        return
    starting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await starting
    await family.stop()


async def _finish(family: Family, watching: asyncio.Task[None], say: Callable[[str], None]) -> None:
    say("Stopping")
    await family.stop()
    await watching


def _announce(settings: UpSettings) -> None:
    err.print(f"\n[bold]Vouch[/bold] is ready: http://{settings.host}:{settings.port}")
    err.print("Ctrl-C stops every process.\n")


def _require_free(host: str, port: int) -> None:
    if port and not _is_free(host, port):
        raise StartError(
            f"port {port} on {host} is taken; stop what uses it or set VOUCH_PORT to another one"
        )


def _next_free(wanted: int) -> int:
    for port in range(wanted, wanted + _PORTS_TRIED):
        if _is_free("127.0.0.1", port):
            return port
    raise StartError(f"no free port for the tool server from {wanted} on; set VOUCH_MCP_PORT")


def _is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
