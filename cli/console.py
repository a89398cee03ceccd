"""The two places a command prints to: results on standard output, remarks on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from rich.console import Console

out = Console()
err = Console(stderr=True)


def print_json(document: Mapping[str, object]) -> None:
    """Print one JSON object and nothing else, for programs that read it."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, default=str) + "\n")
