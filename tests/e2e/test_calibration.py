"""A calibration in the database reaches the verdict, and says when it no longer fits."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx
import pytest

from backend.verdict.calibration_artefact import CalibrationArtefact, CalibrationStamp
from storage.calibrations import CalibrationRecord, CalibrationStore
from storage.database import Database, database_url
from tests.backend.factories import make_artefact
from tests.e2e.conftest import StartApi
from tests.e2e.installation import Installation

QUESTION = "How do I rotate the signing key?"


def artefact_for(index: dict[str, object], **changes: object) -> CalibrationArtefact:
    names = CalibrationStamp.model_fields.keys() & index.keys()
    stamp = CalibrationStamp.model_validate({name: index[name] for name in names} | changes)
    return make_artefact(threshold=0.6).model_copy(update={"stamp": stamp})


@pytest.fixture
def calibrations(installation: Installation) -> Iterator[CalibrationStore]:
    database = Database(database_url("", installation.folder, "vouch"))
    store = CalibrationStore(database)
    yield store

    async def clean() -> None:
        for record in await store.all():
            await store.withdraw(record.id)
        await database.close()

    asyncio.run(clean())


def put(store: CalibrationStore, artefact: CalibrationArtefact) -> None:
    record = CalibrationRecord(id=artefact.digest(), artefact=artefact.model_dump(mode="json"))
    asyncio.run(store.save(record))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (dict[str, object](), ("calibrated", list[str]())),
        (
            {"build": "earlier", "content_digest": "earlier"},
            ("calibrated", ["calibration_drifted"]),
        ),
        ({"header_format": "another"}, ("fixed", ["calibration_void"])),
        ({"embedding_model": "another"}, ("fixed", ["calibration_void"])),
    ],
)
def test_a_calibration_is_used_as_far_as_it_fits_the_index(
    client: httpx.Client,
    start_api: StartApi,
    calibrations: CalibrationStore,
    changes: dict[str, object],
    expected: tuple[str, list[str]],
) -> None:
    mode, degraded = expected
    api = start_api()
    index = client.post(f"{api.url}/ask", json={"question": QUESTION}).json()["index"]
    put(calibrations, artefact_for(index, **changes))
    api.stop()
    api.start()
    body = client.post(f"{api.url}/ask", json={"question": QUESTION}).json()
    assert body["guard"]["mode"] == mode
    assert [name for name in body["degraded"] if name.startswith("calibration")] == degraded
    if mode == "calibrated":
        assert 0.0 <= body["guard"]["probability"] <= 1.0
        assert body["guard"]["contributions"]
    replay = client.post(f"{api.url}/asks/{body['id']}/replay").json()
    assert replay["same_verdict"], replay
    ready = client.get(f"{api.url}/readyz").json()
    assert ready["checks"]["guard"]["status"] == ("degraded" if degraded else "ok")
