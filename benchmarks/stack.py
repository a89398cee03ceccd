"""The product as it is served: tool server and API as processes of their own."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import Server, free_port
from knowledge.client import KnowledgeClient
from service.tokens import TokenSigner
from storage import migrate
from storage.database import database_url

_KEY = "a-signing-key-for-benchmarks"
_NO_LIMIT = "1000000"


@dataclass(frozen=True, slots=True)
class Stack:
    """Running processes over one data folder.

    Attributes:
        api: None when only the tool server was asked for.
    """

    mcp: Server
    mcp_url: str
    api: Server | None
    api_port: int

    def client(self) -> KnowledgeClient:
        """Return a client of the tool server, to be entered."""
        return KnowledgeClient(self.mcp_url, TokenSigner(_KEY), timeout_seconds=60)


@contextmanager
def serve(
    data_dir: Path, *, with_api: bool, environment: Mapping[str, str] | None = None
) -> Generator[Stack]:
    """Serve an index; everything is ended with the block.

    Args:
        data_dir: Holds a published build.
        with_api: Whether questions will be asked, too.
        environment: Further settings of the API.
    """
    for name in ("vouch", "audit"):
        migrate.upgrade(database_url("", data_dir, name))
    common = {
        "VOUCH_DATA_DIR": str(data_dir),
        "VOUCH_SIGNING_KEY": _KEY,
        "VOUCH_LOG_DIR": str(data_dir / "logs"),
    }
    mcp_port, api_port = free_port(), free_port()
    mcp_url = f"http://127.0.0.1:{mcp_port}"
    mcp = Server.module(
        "mcp_server",
        mcp_url,
        {
            **common,
            "VOUCH_MCP_PORT": str(mcp_port),
            "VOUCH_MCP_CALLS_PER_MINUTE": _NO_LIMIT,
        },
        data_dir / "mcp.out",
    )
    api = Server.module(
        "backend",
        f"http://127.0.0.1:{api_port}",
        {**common, "VOUCH_PORT": str(api_port), "VOUCH_MCP_URL": mcp_url, **(environment or {})},
        data_dir / "api.out",
    )
    try:
        mcp.start()
        if with_api:
            api.start()
        yield Stack(mcp, mcp_url, api if with_api else None, api_port)
    finally:
        api.stop()
        mcp.stop()
