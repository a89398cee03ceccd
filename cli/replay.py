"""``vouch replay``: a recorded ask again, and what is different now."""

from __future__ import annotations

from rich.text import Text

from backend.asking.replay import Replay
from cli.client import default_url, post
from cli.console import out, print_json


def run_replay(ask_id: str, *, present: bool, url: str, as_json: bool) -> None:
    """Replay a record through the running API and print what changed.

    Raises:
        ApiRefusedError: There is no such record, or a dependency is away.
        httpx.HTTPError: Nothing answers at the address.
    """
    against = "present" if present else "recorded"
    body = post(url or default_url(), f"/asks/{ask_id}/replay?against={against}", {})
    if as_json:
        print_json(body)
        return
    replay = Replay.model_validate(body)
    out.print(Text(f"build {replay.build_then} then, {replay.build_now} now"))
    out.print(Text(f"evidence {'the same' if replay.same_evidence else 'differs'}"))
    out.print(Text(f"verdict {'the same' if replay.same_verdict else 'differs'}"))
    out.print(Text(f"then: {replay.guard_then.reason}"))
    out.print(Text(f"now:  {replay.guard_now.reason}"))
    for note in replay.notes:
        out.print(Text(note, style="yellow"))
