"""Bodies of the ingestion's routes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from storage.job_orders import IngestOrder
from storage.jobs import JobRecord, TaskRecord
from storage.source_names import SourceNameText


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: str = Field(default="default", min_length=1, max_length=100)
    labels: tuple[str, ...] = Field(default=(), description="Access labels; empty: public.")


class FileBody(_Body):
    """One file under the folders that may be read."""

    file_path: str = Field(min_length=1, max_length=4096)
    source: SourceNameText = Field(default="", description="Empty: named by the path.")


class FilesBody(_Body):
    """Several files; each is a source of its own."""

    file_paths: tuple[str, ...] = Field(min_length=1, max_length=1000)


class FolderBody(_Body):
    """A folder; its source is replaced as a whole."""

    folder_path: str = Field(min_length=1, max_length=4096)
    recursive: bool = True
    glob: str = Field(default="", max_length=500, description="Pattern of names; empty: all.")
    source: SourceNameText = Field(default="", description="Empty: named by the path.")


class UrlBody(_Body):
    """A page, a sitemap.xml, an llms.txt or an llms-full.txt."""

    url: str = Field(min_length=1, max_length=4096)
    source: SourceNameText = Field(default="", description="Empty: the host.")
    refresh_seconds: int = Field(
        default=0, ge=0, le=31_536_000, description="Read it again after so long; 0: never."
    )


class Accepted(BaseModel):
    """A job that was queued."""

    model_config = ConfigDict(frozen=True)

    job_id: str
    documents: int | None = Field(description="How many there are, as far as it is known yet.")
    location: str


class JobError(BaseModel):
    """Why a job failed."""

    model_config = ConfigDict(frozen=True)

    code: str
    detail: str


class JobView(BaseModel):
    """A job and how far it is."""

    model_config = ConfigDict(frozen=True)

    id: str
    kind: str
    state: str
    profile: str
    requester: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    sources: tuple[str, ...] = Field(description="What it reads.")
    documents: int = Field(description="Known so far.")
    counts: dict[str, int] = Field(description="Documents by state.")
    progress: dict[str, JsonValue] = Field(description="Stage, done, total, rate, seconds left.")
    is_cancelling: bool
    build: str
    error: JobError | None


class DocumentView(BaseModel):
    """One document of a job."""

    model_config = ConfigDict(frozen=True)

    name: str
    state: str
    chunks: int
    attempts: int
    reason: str = Field(description="Why it is not in the index; empty when it is.")


class JobDetail(JobView):
    """A job with its documents and its report."""

    items: tuple[DocumentView, ...]
    report: dict[str, JsonValue]


class BuildView(BaseModel):
    """One build."""

    model_config = ConfigDict(frozen=True)

    build: str
    created_at: str
    is_current: bool
    chunks: int
    documents: int
    duplicates: int
    profile: str
    embedding_model: str
    sources: dict[str, int]


class SourceView(BaseModel):
    """One source of the build in force."""

    model_config = ConfigDict(frozen=True)

    name: str
    chunks: int
    location: str = ""
    ingested_at: datetime | None = Field(default=None, description="None: not by a job.")
    refresh_seconds: int = 0


def view_job(job: JobRecord, counts: Mapping[str, int]) -> JobView:
    """Return a job as it is shown."""
    return JobView.model_validate(_fields(job, counts))


def view_detail(job: JobRecord, documents: Sequence[TaskRecord]) -> JobDetail:
    """Return a job with its documents as it is shown."""
    counts = Counter(document.state for document in documents)
    items = [
        DocumentView(
            name=d.name, state=d.state, chunks=d.chunks, attempts=d.attempts, reason=d.reason
        )
        for d in documents
    ]
    fields = {**_fields(job, counts), "items": items, "report": job.report}
    return JobDetail.model_validate(fields)


def _fields(job: JobRecord, counts: Mapping[str, int]) -> dict[str, object]:
    order = IngestOrder.model_validate(job.request) if job.kind == "ingest" else IngestOrder()
    return {
        "id": job.id,
        "kind": job.kind,
        "state": job.state,
        "profile": job.profile,
        "requester": job.requester,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "sources": (*(source.name for source in order.sources), *order.removed),
        "documents": sum(counts.values()),
        "counts": dict(counts),
        "progress": job.progress,
        "is_cancelling": job.is_cancelled and job.state == "running",
        "build": job.build,
        "error": JobError(code=job.error_code, detail=job.error) if job.error_code else None,
    }
