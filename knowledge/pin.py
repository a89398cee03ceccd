"""The tool list this build was made for, and the check that a server still offers exactly it.

A tool's name, description and schemas are text a model obeys. If a server offered others than those
reviewed here, an agent would be steered by words nobody read; so any difference fails closed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from importlib import resources

from pydantic import BaseModel, ConfigDict

from knowledge.client_wire import ToolDescription
from knowledge.errors import ToolContractError

PIN_FILE = "pinned_tools.json"


class Pin(BaseModel):
    """The reviewed tool list and its digest."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: str
    tools: tuple[ToolDescription, ...]


def make_pin(tools: Sequence[ToolDescription]) -> Pin:
    """Return the pin of a tool list, in order of name."""
    ordered = tuple(sorted(tools, key=lambda tool: tool.name))
    return Pin(digest=_digest(ordered), tools=ordered)


def render_pin(pin: Pin) -> str:
    """Return the text of the pin file: indented, so that a change can be reviewed."""
    return json.dumps(pin.model_dump(mode="json", by_alias=True), indent=2, sort_keys=True) + "\n"


def read_pin() -> Pin:
    """Return the pin that ships with this build.

    Raises:
        ToolContractError: The file was changed without its digest, or the reverse.
    """
    text = resources.files("knowledge").joinpath(PIN_FILE).read_text(encoding="utf-8")
    pin = Pin.model_validate_json(text)
    if pin.digest != _digest(pin.tools):
        raise ToolContractError("the pinned tool list does not match its own digest")
    return pin


def check_pin(pin: Pin, tools: Sequence[ToolDescription]) -> None:
    """Return when a server offers exactly the pinned tools.

    Raises:
        ToolContractError: Names the tools that differ, are missing or were added.
    """
    offered = make_pin(tools)
    if offered.digest == pin.digest:
        return
    ours = {tool.name: tool for tool in pin.tools}
    theirs = {tool.name: tool for tool in offered.tools}
    differing = sorted(
        name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)
    )
    raise ToolContractError(
        f"the tool server's tools are not those this build was made for: {', '.join(differing)}"
    )


def _digest(tools: Sequence[ToolDescription]) -> str:
    rows = [tool.model_dump(mode="json", by_alias=True) for tool in tools]
    canonical = json.dumps(rows, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
