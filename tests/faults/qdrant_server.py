"""The part of a Qdrant server's interface that we use, over the client's own in-memory engine.

``python -m tests.faults.qdrant_server PORT``: a real HTTP server for tests of what happens when it
is away. It forgets everything at its end.
"""

from __future__ import annotations

import sys
from typing import Any

import uvicorn
from fastapi import APIRouter, FastAPI, Request
from qdrant_client import AsyncQdrantClient, models
from starlette.responses import JSONResponse

router = APIRouter()


def _client(request: Request) -> AsyncQdrantClient:
    client = request.app.state.client
    assert isinstance(client, AsyncQdrantClient)
    return client


def _reply(result: object) -> JSONResponse:
    return JSONResponse({"result": result, "status": "ok", "time": 0.0})


def _done() -> JSONResponse:
    return _reply({"operation_id": 0, "status": "completed"})


@router.get("/healthz")
async def health() -> JSONResponse:
    return _reply(result=True)


@router.get("/aliases")
async def aliases(request: Request) -> JSONResponse:
    return _reply((await _client(request).get_aliases()).model_dump(mode="json"))


@router.get("/collections")
async def collections(request: Request) -> JSONResponse:
    return _reply((await _client(request).get_collections()).model_dump(mode="json"))


@router.post("/collections/aliases")
async def change_aliases(request: Request, body: models.ChangeAliasesOperation) -> JSONResponse:
    await _client(request).update_collection_aliases(body.actions)
    return _reply(result=True)


@router.get("/collections/{name}/exists")
async def exists(request: Request, name: str) -> JSONResponse:
    return _reply({"exists": await _client(request).collection_exists(name)})


@router.put("/collections/{name}")
async def create(request: Request, name: str, body: models.CreateCollection) -> JSONResponse:
    sparse = body.sparse_vectors
    await _client(request).create_collection(
        name, vectors_config=body.vectors, sparse_vectors_config=sparse
    )
    return _reply(result=True)


@router.delete("/collections/{name}")
async def drop(request: Request, name: str) -> JSONResponse:
    return _reply(await _client(request).delete_collection(name))


@router.put("/collections/{name}/index")
async def add_index(name: str) -> JSONResponse:
    # The engine in memory needs none.
    return _done()


@router.put("/collections/{name}/points")
async def upsert(request: Request, name: str, body: models.PointsList) -> JSONResponse:
    await _client(request).upsert(name, body.points)
    return _done()


@router.post("/collections/{name}/points/delete")
async def delete(request: Request, name: str, body: models.FilterSelector) -> JSONResponse:
    await _client(request).delete(name, body)
    return _done()


@router.post("/collections/{name}/points/scroll")
async def scroll(request: Request, name: str, body: models.ScrollRequest) -> JSONResponse:
    records, offset = await _client(request).scroll(
        name,
        scroll_filter=body.filter,
        limit=body.limit or 10,
        offset=body.offset,
        with_payload=True,
        with_vectors=body.with_vector or False,
    )
    points = [record.model_dump(mode="json") for record in records]
    return _reply({"points": points, "next_page_offset": offset})


@router.post("/collections/{name}/points/count")
async def count(request: Request, name: str, body: models.CountRequest) -> JSONResponse:
    counted = await _client(request).count(name, count_filter=body.filter, exact=True)
    return _reply({"count": counted.count})


@router.post("/collections/{name}/points/query/batch")
async def query(request: Request, name: str, body: models.QueryRequestBatch) -> JSONResponse:
    found = await _client(request).query_batch_points(name, requests=body.searches)
    lists: list[Any] = [each.model_dump(mode="json") for each in found]
    return _reply(lists)


def main(port: int) -> None:
    app = FastAPI()
    app.state.client = AsyncQdrantClient(":memory:")
    app.include_router(router)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main(int(sys.argv[1]))
