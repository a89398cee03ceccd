"""Ends a child process when whoever started it is gone, however that one went.

The launcher gives the child a pipe as standard input and keeps the other end. When the launcher
dies, even by ``kill -9``, the system closes that end and the child reads end-of-file. This works
the same on Linux and macOS, where asking the kernel for a parent-death signal does not.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

LIFELINE_VARIABLE = "VOUCH_LIFELINE"


def follow_lifeline(*, enabled: bool) -> threading.Thread | None:
    """Stop this process gracefully once standard input ends.

    Args:
        enabled: Whether the launcher gave a lifeline; without one nothing is watched.

    Returns:
        The watching thread, or None when there is nothing to watch.
    """
    if not enabled:
        return None
    thread = threading.Thread(target=_wait_for_end, name="lifeline", daemon=True)
    thread.start()
    return thread


def _wait_for_end() -> None:
    while os.read(sys.stdin.fileno(), 1):
        continue
    os.kill(os.getpid(), signal.SIGTERM)
