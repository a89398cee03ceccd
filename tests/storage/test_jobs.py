"""Jobs on both databases: leases, resumption, fencing, cancelling, retrying, the outbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from storage import migrate
from storage.database import Database
from storage.errors import LeaseLostError
from storage.job_outbox import JobOutbox
from storage.job_queue import Claim, JobQueue, LeaseRules
from storage.jobs import JobRecord, JobStore

EXPIRED = LeaseRules(seconds=-1.0, most_attempts=3)


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    await asyncio.to_thread(migrate.upgrade, url)
    opened = Database(url)
    yield opened
    await opened.close()


def ingest() -> JobRecord:
    return JobRecord(kind="ingest")


async def take(queue: JobQueue, worker: str = "w") -> Claim:
    claim = await queue.claim(worker)
    assert claim is not None
    return claim


async def test_a_job_goes_through_plan_documents_and_finish(database: Database) -> None:
    store, queue = JobStore(database), JobQueue(database, LeaseRules())
    job = ingest()
    await store.submit(job)
    await queue.planned(await take(queue), ["a.md", "b.md"], "staging")
    first, second = await take(queue), await take(queue)
    assert (first.task.name, second.task.name) == ("a.md", "b.md")
    assert await queue.claim("w") is None
    await queue.document_done(second, chunks=3, reason="")
    assert await queue.claim("w") is None
    await queue.document_done(first, chunks=0, reason="no text")
    finish = await take(queue)
    assert (finish.task.kind, finish.job.staging) == ("finish", "staging")
    await queue.finished(finish, build="b1", report={"chunks": 3})
    found = await store.find(job.id)
    assert found is not None
    assert (found.state, found.build, found.report) == ("done", "b1", {"chunks": 3})
    assert (await store.counts([job.id]))[job.id] == {"done": 1, "failed": 1}
    assert [(d.name, d.state, d.reason) for d in await store.documents(job.id)] == [
        ("a.md", "failed", "no text"),
        ("b.md", "done", ""),
    ]


async def test_the_task_of_a_silent_worker_goes_to_another_who_alone_may_end_it(
    database: Database,
) -> None:
    store, queue = JobStore(database), JobQueue(database, EXPIRED)
    await store.submit(ingest())
    lost = await take(queue, "killed")
    taken = await take(queue, "other")
    assert taken.task.id == lost.task.id
    with pytest.raises(LeaseLostError):
        await queue.planned(lost, ["a.md"], "old")
    assert await queue.extend(lost) == "lost"
    await queue.planned(taken, ["a.md"], "new")
    assert (await take(queue)).job.staging == "new"


async def test_a_task_that_no_worker_survives_is_given_up_with_its_reason(
    database: Database,
) -> None:
    store, queue = JobStore(database), JobQueue(database, EXPIRED)
    job = ingest()
    await store.submit(job)
    for _ in range(3):
        await take(queue)
    assert await queue.claim("w") is None
    found = await store.find(job.id)
    assert found is not None
    assert (found.state, found.error_code) == ("failed", "given_up")
    assert "3 attempts" in found.error


async def test_a_document_given_up_costs_only_itself(database: Database) -> None:
    store, queue = JobStore(database), JobQueue(database, EXPIRED)
    job = ingest()
    await store.submit(job)
    await queue.planned(await take(queue), ["bomb.pdf"], "s")
    for _ in range(3):
        assert (await take(queue)).task.name == "bomb.pdf"
    assert await queue.claim("w") is None
    assert (await take(queue)).task.kind == "finish"
    (document,) = await store.documents(job.id)
    assert document.state == "failed"


async def test_a_planned_job_without_documents_goes_straight_to_its_end(
    database: Database,
) -> None:
    store, queue = JobStore(database), JobQueue(database, LeaseRules())
    await store.submit(ingest())
    await queue.planned(await take(queue), [], "s")
    assert (await take(queue)).task.kind == "finish"


async def test_one_job_is_under_way_at_a_time_the_oldest(database: Database) -> None:
    store, queue = JobStore(database), JobQueue(database, LeaseRules())
    first, second = ingest(), JobRecord(kind="rollback")
    await store.submit(first)
    await store.submit(second)
    claim = await take(queue)
    assert claim.job.id == first.id
    assert await queue.claim("w") is None
    await queue.failed(claim, code="bad_source", error="nothing there")
    assert (await take(queue)).job.id == second.id


async def test_cancelling_ends_a_waiting_job_at_once_and_a_running_one_when_seen(
    database: Database,
) -> None:
    store, queue = JobStore(database), JobQueue(database, LeaseRules())
    running, waiting = ingest(), ingest()
    await store.submit(running)
    await store.submit(waiting)
    claim = await take(queue)
    ended = await store.cancel(waiting.id)
    asked = await store.cancel(running.id)
    assert ended is not None
    assert asked is not None
    assert (ended.state, asked.state) == ("cancelled", "running")
    assert await queue.extend(claim) == "cancelled"
    await queue.failed(claim, code="", error="")
    found = await store.find(running.id)
    assert found is not None
    assert found.state == "cancelled"
    assert await queue.claim("w") is None


async def test_a_failed_job_can_be_retried_from_its_beginning(database: Database) -> None:
    store, queue = JobStore(database), JobQueue(database, LeaseRules())
    job = ingest()
    await store.submit(job)
    await queue.failed(await take(queue), code="bad_source", error="nothing there")
    again = await store.retry(job.id)
    assert again is not None
    assert (again.state, again.error) == ("queued", "")
    claim = await take(queue)
    assert (claim.task.kind, claim.attempt) == ("plan", 1)
    assert (await store.retry(job.id)).state == "running"  # type: ignore[union-attr]


async def test_a_message_for_a_settled_task_changes_nothing(database: Database) -> None:
    store, queue = JobStore(database), JobQueue(database, LeaseRules())
    await store.submit(ingest())
    plan = await take(queue)
    await queue.planned(plan, ["a.md"], "s")
    assert await queue.claim_task(plan.task.id, "w", is_redelivered=True) is None
    assert await queue.claim_task("unknown", "w", is_redelivered=False) is None


async def test_only_a_redelivered_message_overrules_a_lease(database: Database) -> None:
    store, queue = JobStore(database), JobQueue(database, LeaseRules())
    await store.submit(ingest())
    (task,) = await JobOutbox(database).unsent(limit=10, again_after_seconds=60)
    first = await queue.claim_task(task, "killed", is_redelivered=False)
    assert first is not None
    assert await queue.claim_task(task, "other", is_redelivered=False) is None
    second = await queue.claim_task(task, "other", is_redelivered=True)
    assert second is not None
    assert second.attempt == 2


async def test_the_outbox_gives_each_task_once_and_again_when_the_broker_lost_it(
    database: Database,
) -> None:
    store = JobStore(database)
    await store.submit(ingest())
    (task,) = await JobOutbox(database).unsent(limit=10, again_after_seconds=60)
    await JobOutbox(database).mark_sent([task])
    assert await JobOutbox(database).unsent(limit=10, again_after_seconds=60) == []
    assert len(await JobOutbox(database).unsent(limit=10, again_after_seconds=-1)) == 1


async def test_a_postponed_task_is_due_later_and_keeps_its_reason(database: Database) -> None:
    store, queue = JobStore(database), JobQueue(database, LeaseRules())
    await store.submit(ingest())
    claim = await take(queue)
    await queue.postpone(claim, seconds=3600, counts=False, reason="the index is down")
    assert await queue.claim("w") is None
    await queue.postpone(claim, seconds=-1, counts=False, reason="not held any more")
    assert await queue.claim("w") is None


async def test_two_workers_never_take_the_same_document(database: Database) -> None:
    store, queue = JobStore(database), JobQueue(database, LeaseRules())
    await store.submit(ingest())
    names = [f"{number}.md" for number in range(12)]
    await queue.planned(await take(queue), names, "s")
    taken: list[str] = []

    async def work(worker: str) -> None:
        while claim := await queue.claim(worker):
            taken.append(claim.task.name)
            if claim.task.kind == "finish":
                await queue.finished(claim, build="b", report={})
            else:
                await queue.document_done(claim, chunks=1, reason="")

    async with asyncio.TaskGroup() as group:
        for number in range(3):
            group.create_task(work(f"w{number}"))
    documents = [name for name in taken if name]
    assert sorted(documents) == sorted(names)
    assert taken.count("") == 1
