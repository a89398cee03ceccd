"""A TCP proxy on loopback that breaks the line the way a test asks for.

    with open_proxy(port) as line:
        settings = {"OPENAI_BASE_URL": f"http://127.0.0.1:{line.port}/v1"}
        line.be("hang")
        ...
        line.be("pass")

Fates, each in force for open connections as well as new ones:
    pass       everything goes through
    absent     nobody listens, and open connections are reset
    cut        the first bytes of an answer go through, then the connection is reset
    hang       connections are accepted, what is sent is read, and nothing ever comes back
    garbage    whatever is sent is answered with bytes of no protocol
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Generator
from typing import Literal

Fate = Literal["pass", "absent", "cut", "hang", "garbage"]

_GARBAGE = b"\x00\xff\x13garbage\r\n\x7f" * 40
_RESET = struct.pack("ii", 1, 0)
_CUT_AFTER_BYTES = 20
_CHUNK = 65536


class FaultProxy:
    """The running proxy.

    Args:
        target: Loopback port of the real service; it need not be there yet.
        fate: What happens from the start.
    """

    def __init__(self, target: int, fate: Fate = "pass") -> None:
        self.fate: Fate = fate
        self.touched = threading.Event()
        self.connected = threading.Event()
        self._target = target
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener = _listen(0)
        self.port = int(self._listener.getsockname()[1])
        self._threads: list[threading.Thread] = []
        self._serve()
        if fate == "absent":
            self._stop_listening()

    def be(self, fate: Fate) -> None:
        """Change what happens; ``touched`` is set when the new fate has met its first bytes."""
        before, self.fate = self.fate, fate
        self.touched.clear()
        if fate == "absent":
            self._stop_listening()
        elif before == "absent":
            self._listener = _listen(self.port)
            self._serve()
        if before in {"hang", "absent"}:
            # A line that hung is of no use to anybody afterwards.
            self._drop()

    def close(self) -> None:
        """Close everything and wait for the threads."""
        self._stop_listening()
        for thread in self._threads:
            thread.join(10)

    def _serve(self) -> None:
        self._start(self._accept, self._listener)

    def _stop_listening(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._drop()

    def _drop(self) -> None:
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            _reset(connection)

    def _start(self, work: object, *arguments: socket.socket) -> None:
        assert callable(work)
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            self._start(self._connect, client)

    def _connect(self, client: socket.socket) -> None:
        self.connected.set()
        try:
            server = socket.create_connection(("127.0.0.1", self._target), timeout=5)
        except OSError:
            _reset(client)
            return
        server.settimeout(None)
        with self._lock:
            self._open |= {client, server}
        answering = threading.Thread(target=self._pump_back, args=(server, client), daemon=True)
        answering.start()
        self._pump_on(client, server)
        answering.join(10)
        with self._lock:
            self._open -= {client, server}
        client.close()
        server.close()

    def _pump_on(self, client: socket.socket, server: socket.socket) -> None:
        """Carry what the client sends."""
        while data := _read(client):
            if self.fate == "hang":
                self.touched.set()
                continue
            if self.fate == "garbage":
                self.touched.set()
                with contextlib.suppress(OSError):
                    client.sendall(_GARBAGE)
                break
            if not _write(server, data):
                break
        for connection in (server, client) if self.fate == "garbage" else (server,):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_WR)

    def _pump_back(self, server: socket.socket, client: socket.socket) -> None:
        """Carry what the server answers."""
        while data := _read(server):
            if self.fate == "hang":
                self.touched.set()
                continue
            if self.fate == "garbage":
                self.touched.set()
                data = _GARBAGE
            if self.fate == "cut":
                self.touched.set()
                _write(client, data[:_CUT_AFTER_BYTES])
                _reset(client)
                _reset(server)
                return
            if not _write(client, data):
                break
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def open_proxy(target: int, fate: Fate = "pass") -> Generator[FaultProxy]:
    """Run a proxy before a loopback port for the length of a with block."""
    proxy = FaultProxy(target, fate)
    try:
        yield proxy
    finally:
        proxy.close()


def _listen(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    return listener


def _read(connection: socket.socket) -> bytes:
    try:
        return connection.recv(_CHUNK)
    except OSError:
        return b""


def _write(connection: socket.socket, data: bytes) -> bool:
    try:
        connection.sendall(data)
    except OSError:
        return False
    return True


def _reset(connection: socket.socket) -> None:
    """Close so that the other side sees a reset, and a thread that reads it wakes up."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        connection.shutdown(socket.SHUT_RD)
        connection.close()
