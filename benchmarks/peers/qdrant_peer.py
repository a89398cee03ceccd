"""mcp-server-qdrant: its find tool over streamable HTTP, with a provider of the packaged model.

``serve ORDER`` is the server, ``ORDER`` alone the callers in front of it.
"""

import asyncio
import sys
import time
from pathlib import Path

import common


def serve(task):
    from fastembed import TextEmbedding
    from mcp_server_qdrant.embeddings.base import EmbeddingProvider
    from mcp_server_qdrant.mcp_server import QdrantMCPServer
    from mcp_server_qdrant.settings import QdrantSettings, ToolSettings

    class Packaged(EmbeddingProvider):
        def __init__(self):
            self.model = TextEmbedding(
                common.MODEL, threads=1, **common.register(task["model_dir"])
            )

        async def embed_documents(self, documents):
            found = await asyncio.to_thread(lambda: list(self.model.passage_embed(documents)))
            return [vector.tolist() for vector in found]

        async def embed_query(self, query):
            found = await asyncio.to_thread(lambda: list(self.model.query_embed([query])))
            return found[0].tolist()

        def get_vector_name(self):
            return "packaged"

        def get_vector_size(self):
            return 384

    fill(task)
    server = QdrantMCPServer(
        tool_settings=ToolSettings(),
        qdrant_settings=QdrantSettings(
            QDRANT_LOCAL_PATH=task["store"],
            COLLECTION_NAME="kb",
            QDRANT_SEARCH_LIMIT=task["k"],
            QDRANT_READ_ONLY=True,
        ),
        embedding_provider=Packaged(),
    )
    server.run(transport="streamable-http", host="127.0.0.1", port=task["port"], path="/mcp")


def fill(task):
    """Write the passages with their vectors, in the form the server's own store tool writes."""
    from qdrant_client import QdrantClient, models

    if Path(task["store"]).is_dir():
        return
    rows, vectors = common.passages(task["corpus"])
    client = QdrantClient(path=task["store"])
    client.create_collection(
        "kb",
        vectors_config={"packaged": models.VectorParams(size=384, distance=models.Distance.COSINE)},
    )
    client.upload_points(
        "kb",
        (
            models.PointStruct(
                id=row["id"],
                vector={"packaged": vector.tolist()},
                payload={"document": row["text"], "metadata": {"url": row["url"]}},
            )
            for row, vector in zip(rows, vectors, strict=True)
        ),
    )
    client.close()


async def callers(task):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    url = f"http://127.0.0.1:{task['port']}/mcp"
    async with streamablehttp_client(url) as (read, write, _):
        async with ClientSession(read, write) as session:
            await session.initialize()

            async def call(text):
                found = await session.call_tool("qdrant-find", {"query": text})
                assert not found.isError

            for text in task["warm"]:
                await call(text)
            cells = {}
            for count, texts in task["questions"].items():
                cells[count] = await run_tasks(call, texts, int(count))
    common.answer({"callers": cells})


async def run_tasks(call, texts, count):
    waiting, taken = iter(texts), []

    async def work():
        for text in waiting:
            started = time.perf_counter()
            await call(text)
            taken.append((time.perf_counter() - started) * 1000)

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(count)))
    return common.summary(taken, time.perf_counter() - started)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        sys.argv.pop(1)
        serve(common.order())
    else:
        asyncio.run(callers(common.order()))
