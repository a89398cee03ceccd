"""A worker process whose model costs nothing: ``python -m tests.faults.hash_worker``."""

from __future__ import annotations

import asyncio

from ingestion.toolbox import Toolbox
from ingestion.worker import run_worker
from ingestion.worker_settings import WorkerSettings
from storage.database import database_url
from tests.ingestion.fakes import HashEmbedder
from tests.ingestion.hash_tools import hash_tools

if __name__ == "__main__":
    settings = WorkerSettings()
    url = database_url(settings.database_url, settings.data_dir, "vouch")
    asyncio.run(run_worker(settings, url, Toolbox(settings, hash_tools(HashEmbedder()))))
