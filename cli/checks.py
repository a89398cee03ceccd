"""The checks of ``vouch doctor``, from the ground up: disk, model, index, processes, model API."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

import httpx

from agent.settings import AgentSettings
from backend.settings import LOOPBACK_HOSTS
from cli.checks_services import (
    check_broker,
    check_embedding_service,
    check_process,
    check_redis,
    check_tool_server,
    check_worker,
)
from cli.doctor import Check, Finding, examine, report
from cli.migrate import database_urls
from cli.secrets import read_secrets
from cli.settings import UpSettings, gather_environment, read_settings
from ingestion.worker_settings import WorkerSettings
from retrieval.opening import open_catalog, open_embedder, require_readable
from retrieval.settings import RetrievalSettings
from service.errors import VouchError
from storage.migrate import check as check_schema

_MODEL_SECONDS = 5.0


def run_doctor(*, as_json: bool) -> bool:
    """Run every check and print what was found; return whether nothing failed."""
    given = gather_environment(Path(".env"))
    settings = read_settings(UpSettings, given)
    environment = read_secrets(settings.data_dir) | given
    return report(asyncio.run(examine(_plan(settings, environment))), as_json=as_json)


def _plan(settings: UpSettings, environment: Mapping[str, str]) -> list[Check]:
    retrieval = read_settings(RetrievalSettings, environment)
    agent = read_settings(AgentSettings, environment)
    shown = "127.0.0.1" if settings.host not in LOOPBACK_HOSTS else settings.host
    return [
        lambda: asyncio.to_thread(_data_folder, settings.data_dir),
        lambda: _embedding_model(retrieval),
        lambda: _index(retrieval),
        lambda: asyncio.to_thread(_databases, settings),
        lambda: check_tool_server(settings, environment),
        lambda: check_process("api", f"http://{shown}:{settings.port}"),
        lambda: check_worker(settings),
        lambda: check_embedding_service(retrieval),
        lambda: check_broker(read_settings(WorkerSettings, environment)),
        lambda: check_redis(environment),
        lambda: _language_model(agent),
    ]


def _data_folder(folder: Path) -> Finding:
    name = "data folder"
    if not folder.exists():
        return Finding(name, "note", f"{folder} does not exist yet", "`vouch up` makes it")
    if not os.access(folder, os.W_OK):
        return Finding(name, "fail", f"{folder} cannot be written", "mend its owner or mode")
    return Finding(name, "ok", str(folder.resolve()))


async def _embedding_model(settings: RetrievalSettings) -> Finding:
    name = "embedding model"
    try:
        embedder = await asyncio.to_thread(open_embedder, settings)
    except VouchError as error:
        return Finding(name, "fail", str(error), "set VOUCH_EMBEDDING_MODEL or VOUCH_PROFILE")
    return Finding(name, "ok", f"{embedder.spec.name}, dimension {embedder.spec.dimension}")


async def _index(settings: RetrievalSettings) -> Finding:
    name = "index"
    try:
        catalog = open_catalog(settings)
        try:
            manifest = await catalog.current()
        finally:
            await catalog.close()
    except VouchError as error:
        where = "QDRANT_URL" if settings.qdrant_url else "VOUCH_DATA_DIR"
        return Finding(name, "fail", str(error), f"see that {where} is right")
    if manifest is None:
        return Finding(name, "note", "no build is published", "run `vouch ingest PATH`")
    try:
        await asyncio.to_thread(require_readable, manifest, settings)
    except VouchError as error:
        return Finding(name, "fail", str(error))
    return Finding(name, "ok", f"build {manifest.build}, {manifest.chunks} chunks")


def _databases(settings: UpSettings) -> Finding:
    name = "database"
    for url in database_urls(settings):
        if url.startswith("sqlite") and not Path(url.partition(":///")[2]).exists():
            return Finding(name, "note", "not made yet", "`vouch up` or `vouch migrate` makes it")
        try:
            check_schema(url)
        except VouchError as error:
            return Finding(name, "fail", str(error), "run `vouch migrate`")
    return Finding(name, "ok", "at this version's tables")


async def _language_model(settings: AgentSettings) -> Finding:
    name = "language model"
    if not settings.openai_base_url and not settings.openai_api_key.get_secret_value():
        return Finding(
            name,
            "note",
            "none; answers quote the documents",
            "set OPENAI_BASE_URL or OPENAI_API_KEY",
        )
    base = settings.openai_base_url or "https://api.openai.com/v1"
    key = settings.openai_api_key.get_secret_value() or "none"
    try:
        async with httpx.AsyncClient(timeout=_MODEL_SECONDS) as client:
            response = await client.get(
                f"{base.rstrip('/')}/models", headers={"authorization": f"Bearer {key}"}
            )
    except httpx.HTTPError as error:
        return Finding(name, "fail", f"{base}: {type(error).__name__}", "see OPENAI_BASE_URL")
    if response.is_error:
        return Finding(name, "fail", f"{base} answers {response.status_code}", "see OPENAI_API_KEY")
    return Finding(name, "ok", f"{settings.model} at {base}")
