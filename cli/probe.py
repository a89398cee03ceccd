"""Health check of a container: asks the process in it, and exits with what it says.

Kept to the standard library so that a check every ten seconds costs little.
"""

from __future__ import annotations

import os
import sys
import urllib.error
import urllib.request

_DEADLINE_SECONDS = 2.5


def main() -> int:
    """Return 0 when the address in VOUCH_PROBE_URL answers with a success status."""
    url = os.environ.get("VOUCH_PROBE_URL", "http://127.0.0.1:8000/healthz")
    if not url.startswith("http://127.0.0.1:"):
        sys.stderr.write("VOUCH_PROBE_URL must be an http address on 127.0.0.1\n")
        return 2
    try:
        # The scheme and the host are checked above.
        with urllib.request.urlopen(url, timeout=_DEADLINE_SECONDS):  # noqa: S310
            return 0
    except (urllib.error.URLError, OSError) as error:
        sys.stderr.write(f"{url}: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
