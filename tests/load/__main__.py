"""``python -m tests.load``: many clients for long; behind `make load` and `make soak`."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.load.driver import run_load
from tests.load.stand import stand


def main() -> int:
    """Run and print; returns 1 when anything but 200, 429 and 503 came back."""
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__)
    parser.add_argument("--agents", nargs="+", default=["extractive", "scripted"])
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pause-seconds", type=float, default=0.0)
    given = parser.parse_args()
    is_good = True
    for agent in given.agents:
        with (
            tempfile.TemporaryDirectory(prefix="vouch-load-") as folder,
            stand(Path(folder), agent) as (url, pids),
        ):
            outcome = asyncio.run(
                run_load(
                    url,
                    pids,
                    clients=given.clients,
                    seconds=given.seconds,
                    pause_seconds=given.pause_seconds,
                )
            )
        sys.stdout.write(f"{agent}: {given.clients} clients, {given.seconds:g} s\n")
        sys.stdout.write(outcome.report() + "\n")
        is_good &= outcome.statuses <= {200, 429, 503} and not outcome.without_time()
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
