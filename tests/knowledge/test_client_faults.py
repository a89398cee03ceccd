"""The client against sockets that break the rules of HTTP itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from knowledge.client import KnowledgeClient
from knowledge.errors import KnowledgeError, KnowledgeUnavailableError, ToolContractError
from service.tokens import Claims, TokenSigner

CLAIMS = Claims(ask_id="ask", branch="agent", scopes=())
OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


@asynccontextmanager
async def answering(answer: bytes) -> AsyncGenerator[KnowledgeClient]:
    """Give a client whose server answers every request with these bytes and hangs up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, KnowledgeClient(f"http://127.0.0.1:{port}", TokenSigner("k" * 16)) as client:
        yield client


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"", KnowledgeUnavailableError),
        (b"\x00\xff\xfe nonsense\r\n\r\n", KnowledgeUnavailableError),
        (OK + b"content-length: 500\r\n\r\n{", KnowledgeUnavailableError),
        (OK + b"content-length: ten\r\n\r\n{}", KnowledgeUnavailableError),
        (OK + b"content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc", ToolContractError),
        (OK + b"content-length: 2\r\n\r\n\xff\xfe", ToolContractError),
        (OK + b"content-length: 2\r\n\r\n{}", ToolContractError),
        (b"SSH-2.0-OpenSSH_9.9\r\n", KnowledgeUnavailableError),
    ],
    ids=["silence", "bytes", "cut", "length", "gzip", "not-utf8", "empty", "other-protocol"],
)
async def test_broken_answers_become_typed_errors(
    answer: bytes, expected: type[KnowledgeError]
) -> None:
    async with answering(answer) as client:
        with pytest.raises(expected):
            await client.bind(CLAIMS).search_kb("q", 1)
        with pytest.raises(KnowledgeError):
            await client.ping()


async def test_nobody_there_is_said_to_be_unavailable(free_port: int) -> None:
    async with KnowledgeClient(f"http://127.0.0.1:{free_port}", TokenSigner("k" * 16)) as client:
        outcomes = await asyncio.gather(
            *(client.bind(CLAIMS).search_kb("q", 1) for _ in range(32)), return_exceptions=True
        )
    assert {type(outcome) for outcome in outcomes} == {KnowledgeUnavailableError}


async def test_a_query_no_encoding_can_carry_is_sent_with_its_bad_part_replaced() -> None:
    async with answering(OK + b"content-length: 2\r\n\r\n{}") as client:
        with pytest.raises(ToolContractError):
            await client.bind(CLAIMS).search_kb("half \ud800 pair", 1)
