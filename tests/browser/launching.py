"""How a chromium is started for a test or a picture."""

from __future__ import annotations

# No sandbox: tests run as root in containers. The rest keeps the browser from calling home.
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
