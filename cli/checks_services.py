"""The checks of ``vouch doctor`` for processes and servers: whose they are, and how they are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import httpx

from cli.doctor import Finding, fetch_health
from cli.migrate import database_urls
from cli.settings import UpSettings
from ingestion.worker_settings import WorkerSettings
from knowledge.client import KnowledgeClient
from knowledge.errors import KnowledgeError
from retrieval.settings import RetrievalSettings
from service.broker_watch import ping_broker
from service.errors import VouchError
from service.limiter_redis import RedisLimiter
from service.tokens import TokenSigner
from storage.columns import utc_now
from storage.database import Database
from storage.index_view import IndexView

_PORTS_LOOKED_AT = 5
_DEADLINE_SECONDS = 4.0
_ALIVE = timedelta(minutes=2)


async def check_process(name: str, url: str) -> Finding:
    """Ask a process for its health."""
    try:
        health = await fetch_health(url)
    except httpx.HTTPError:
        return Finding(name, "note", f"nothing answers at {url}", "start it with `vouch up`")
    except ValueError:
        return Finding(name, "fail", f"something else answers at {url}", "choose another port")
    troubles = [
        f"{what} is {check.status} ({check.detail})"
        for what, check in health.checks.items()
        if check.status != "ok"
    ]
    if troubles:
        return Finding(name, "fail", f"{url}: " + "; ".join(troubles), "see its log")
    return Finding(name, "ok", f"{url} " + " ".join(health.details.values()))


async def check_tool_server(settings: UpSettings, environment: Mapping[str, str]) -> Finding:
    """Find this installation's tool server: the one that accepts its key.

    ``vouch up`` takes the next free port when another installation has the first one.
    """
    name, key = "tool server", environment.get("VOUCH_SIGNING_KEY", "")
    first = f"http://127.0.0.1:{settings.mcp_port}"
    at_first = await check_process(name, first)
    if not key or at_first.state == "note":
        return at_first
    for port in range(settings.mcp_port, settings.mcp_port + _PORTS_LOOKED_AT):
        url = f"http://127.0.0.1:{port}"
        if await _accepts(url, key):
            return await check_process(name, url)
    return Finding(
        name,
        "fail",
        f"another installation's tool server answers at {first}: it does not accept this key",
        "start this one with `vouch up`, which takes the next free port, or set VOUCH_MCP_PORT",
    )


async def check_embedding_service(settings: RetrievalSettings) -> Finding:
    """Ask the embedding service, if one is configured."""
    name, url = "embedding service", settings.embedding_url.rstrip("/")
    if not url:
        return Finding(name, "ok", "none; the models are in the tool server and the worker")
    try:
        async with httpx.AsyncClient(timeout=_DEADLINE_SECONDS, trust_env=False) as client:
            (await client.get(f"{url}/health")).raise_for_status()
    except httpx.HTTPError as error:
        return Finding(name, "fail", f"{url}: {type(error).__name__}", "see VOUCH_EMBEDDING_URL")
    return Finding(name, "ok", url)


async def check_worker(settings: UpSettings) -> Finding:
    """Look when a worker was last alive."""
    name = "worker"
    database = Database(database_urls(settings)[0], timeout_seconds=_DEADLINE_SECONDS)
    try:
        workers = await IndexView(database).workers()
    except Exception as error:  # noqa: BLE001 - tables that are not there yet are no news here
        return Finding(name, "note", f"not known: {type(error).__name__}", "see the database")
    finally:
        await database.close()
    alive = [worker for worker in workers if utc_now() - worker.seen_at < _ALIVE]
    if not alive:
        return Finding(name, "note", "none is alive", "`vouch up` or `vouch worker` starts one")
    return Finding(name, "ok", ", ".join(worker.name for worker in alive))


async def check_broker(settings: WorkerSettings) -> Finding:
    """Log in to the broker, if one is configured."""
    name, url = "broker", settings.broker_url.get_secret_value()
    if not url:
        return Finding(name, "ok", "none; the database is the queue")
    try:
        await ping_broker(url)
    except VouchError as error:
        return Finding(name, "fail", str(error), "see VOUCH_BROKER_URL")
    return Finding(name, "ok", "answers")


async def check_redis(environment: Mapping[str, str]) -> Finding:
    """Count once in Redis, if one is configured."""
    name, url = "redis", environment.get("VOUCH_REDIS_URL", "")
    if not url:
        return Finding(name, "ok", "none; each process counts for itself")
    limiter = RedisLimiter(url)
    try:
        await limiter.ping()
    except VouchError as error:
        return Finding(name, "fail", str(error), "see VOUCH_REDIS_URL; limits are counted here")
    finally:
        await limiter.close()
    return Finding(name, "ok", "answers")


async def _accepts(url: str, key: str) -> bool:
    try:
        signer = TokenSigner(key)
        async with KnowledgeClient(url, signer, timeout_seconds=_DEADLINE_SECONDS) as client:
            await client.ping()
    except (KnowledgeError, VouchError):
        return False
    return True
