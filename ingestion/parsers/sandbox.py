"""Parsers in a process of their own: one that hangs or eats memory costs its document only.

The process is started once and reads file after file. It is ended and started anew when a file
takes longer than its deadline, or when it dies; its memory and processor time are limited by the
operating system.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import resource
import sys
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from types import TracebackType

from ingestion.document import Parsed, RawContent
from ingestion.errors import UnreadableError
from ingestion.parsers.registry import parse

_EXIT_SECONDS = 2.0
_START_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Bounds on one file.

    Attributes:
        seconds: From handing the file over to having its documents.
        memory_bytes: Address space of the process, which holds the parsers as well.
    """

    seconds: float = 60.0
    memory_bytes: int = 2_000_000_000


class ParserProcess:
    """Runs ``parse`` in a child process, within limits.

    Args:
        limits: Of each file.
    """

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None

    def __enter__(self) -> ParserProcess:
        """Start nothing yet: the first file does."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        self.close()

    @property
    def process_id(self) -> int:
        """Id of the child process; 0 while there is none."""
        return (self._process.pid or 0) if self._process else 0

    def parse(self, content: RawContent) -> Parsed:
        """Read one file.

        Raises:
            UnreadableError: The parser refuses it, is too slow, or dies on it.
        """
        connection = self._connected()
        try:
            connection.send(content)
            if not connection.poll(self._limits.seconds):
                self.close()
                raise UnreadableError(f"parser ended after {self._limits.seconds:g} s")
            answer: object = connection.recv()
        except (EOFError, OSError) as error:
            self.close()
            raise UnreadableError("parser ended: over its limit of memory or time") from error
        if isinstance(answer, Parsed):
            return answer
        raise UnreadableError(str(answer))

    def close(self) -> None:
        """End the process; the next file starts another."""
        process, self._process = self._process, None
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        if process is not None:
            process.join(0)
            process.kill()
            process.join(_EXIT_SECONDS)

    def _connected(self) -> Connection:
        if self._connection is not None and self._process is not None and self._process.is_alive():
            return self._connection
        self.close()
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, self._limits), name="vouch-parser", daemon=True
        )
        self._process.start()
        theirs.close()
        self._connection = ours
        try:
            if ours.poll(_START_SECONDS):
                ours.recv()
                return ours
        except (EOFError, OSError) as error:
            self.close()
            raise UnreadableError("the parser process does not start") from error
        self.close()
        raise UnreadableError("the parser process does not start")


def _serve(connection: Connection, limits: ParseLimits) -> None:
    """Read files until the other side closes; runs in the child."""
    _limit(limits)
    connection.send("ready")
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            connection.send(_answer(connection.recv()))


def _limit(limits: ParseLimits) -> None:
    if sys.platform == "linux":  # macOS refuses a limit on address space; the deadline holds there
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answer(content: RawContent) -> Parsed | str:
    try:
        return parse(content)
    except UnreadableError as error:
        return str(error)
    except MemoryError:
        return "parser ended: over its limit of memory"
    except RecursionError:
        return "nested too deeply"
    except Exception as error:  # noqa: BLE001 - a process edge: a parser's bug is one file's reason
        return f"parser failed: {type(error).__name__}: {error}"
