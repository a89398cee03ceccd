"""A chat endpoint that answers at once: the first sentence of the first passage, cited.

It stands for a model whose time is nobody's concern here, in a process of its own so that it takes
nothing from the one under measurement. ``python -m benchmarks.instant_model PORT``.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys

_EVIDENCE = re.compile(r"BEGIN EVIDENCE \[1\] (\w+)\n(.*?)\nEND EVIDENCE", re.DOTALL)
_SENTENCE = re.compile(r"[A-Z`\"][^.!?\n]{20,300}[.!?]")
_HEADER_END = b"\r\n\r\n"


def reply_to(body: str) -> str:
    """Return the completion for a request body, as JSON text."""
    messages = json.loads(body).get("messages", [])
    text = "\n".join(str(message.get("content") or "") for message in messages)
    passage = _EVIDENCE.search(text)
    sentence = _SENTENCE.search(passage.group(2)) if passage else None
    words = f"{sentence.group(0)} [1]" if sentence else "It is as the documentation says [1]."
    message = {"role": "assistant", "content": words}
    return json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "instant",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
    )


async def _serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(_HEADER_END)).decode("latin-1")
            found = re.search(r"(?i)content-length: *(\d+)", head)
            body = (await reader.readexactly(int(found.group(1)))).decode() if found else "{}"
            content = reply_to(body or "{}").encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                + f"content-length: {len(content)}\r\n\r\n".encode()
                + content
            )
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def _serve(port: int) -> None:
    server = await asyncio.start_server(_serve_one, "127.0.0.1", port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
