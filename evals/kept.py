"""Calibrations and recorded asks in the database, as calibration and its check need them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import JsonValue, ValidationError

from backend.verdict.calibration import mismatches
from backend.verdict.calibration_artefact import CalibrationArtefact
from evals.errors import EvalSetError
from evals.observations import earned
from ingestion.dedup import deduplicate
from ingestion.records import BuildRecords
from ingestion.settings import IngestionSettings
from mcp_server.replies import index_info
from retrieval.catalog import Catalog
from retrieval.errors import IndexUnavailableError
from retrieval.manifest import Manifest
from retrieval.opening import open_catalog
from storage.asks import AskStore
from storage.calibrations import CalibrationRecord, CalibrationStore
from storage.database import Database


@dataclass(frozen=True, slots=True)
class Kept:
    """An artefact and its id in the database."""

    calibration_id: str
    artefact: CalibrationArtefact


async def keep_artefact(database: Database, artefact: CalibrationArtefact) -> str:
    """Store an artefact, put it in force, and return its id."""
    record = CalibrationRecord(
        id=artefact.digest(), name=artefact.name, artefact=artefact.model_dump(mode="json")
    )
    await CalibrationStore(database).save(record)
    return artefact.digest()


async def read_in_force(database: Database) -> Kept:
    """Return the artefact in force.

    Raises:
        EvalSetError: There is none, or it was written by another version.
    """
    record = await CalibrationStore(database).in_force()
    if record is None:
        message = "there is no calibration to check; run `vouch calibrate SET`"
        raise EvalSetError(message)
    try:
        return Kept(record.id, CalibrationArtefact.model_validate(record.artefact))
    except ValidationError as error:
        message = f"the calibration {record.id} was written by another version; calibrate again"
        raise EvalSetError(message) from error


async def live_signals(database: Database, newest: int) -> list[dict[str, float]]:
    """Return the guard's signals of the newest recorded asks."""
    records = await AskStore(database).recent(limit=newest)
    return [found for record in records if (found := numbers_in(record.verdict))]


def numbers_in(verdict: Mapping[str, JsonValue]) -> dict[str, float]:
    """Return the signals of a recorded verdict by name; empty when it has none."""
    signals = verdict.get("signals")
    if not isinstance(signals, Mapping):
        return {}
    more = signals.get("more")
    fields = {**signals, **(more if isinstance(more, Mapping) else {})}
    return earned(
        {
            name: float(number)
            for name, number in fields.items()
            if isinstance(number, int | float) and not isinstance(number, bool)
        }
    )


async def note_check(
    database: Database, kept: Kept, *, build: str, share: float, passed: bool
) -> None:
    """Keep the outcome of a check with its calibration, where the guard reads it."""
    check: dict[str, JsonValue] = {
        "build": build,
        "changed_share": share,
        "passed": passed,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    await CalibrationStore(database).note_check(kept.calibration_id, check)


@dataclass(frozen=True, slots=True)
class IndexChange:
    """How the build in force differs from the one a calibration was made on.

    Attributes:
        build: In force.
        share: Of the chunks that only one of the two has, in [0, 1].
        mismatched: What must be the same and is not, in words; anything here voids the calibration.
    """

    build: str
    share: float
    mismatched: tuple[str, ...] = ()


async def changed_share(settings: IngestionSettings, artefact: CalibrationArtefact) -> IndexChange:
    """Return how the build in force differs from the calibrated one.

    Counted exactly while the calibrated build is still kept; afterwards the difference in number
    is all that is known, and is returned.

    Raises:
        IndexUnavailableError: Nothing is published.
    """
    catalog = open_catalog(settings)
    try:
        current = await catalog.current()
        if current is None:
            message = "no build is published; run `vouch ingest`"
            raise IndexUnavailableError(message)
        stamp = artefact.stamp
        mismatched = mismatches(stamp, index_info(current))
        if current.content_digest == stamp.content_digest:
            return IndexChange(current.build, 0.0, mismatched)
        calibrated = await _find(catalog, stamp.content_digest)
        if calibrated is None:
            most = max(current.chunks, stamp.chunks)
            share = abs(current.chunks - stamp.chunks) / most
            return IndexChange(current.build, share, mismatched)
        now, then = await asyncio.to_thread(
            lambda: (_chunk_ids(settings, current), _chunk_ids(settings, calibrated))
        )
        return IndexChange(current.build, len(now ^ then) / len(now | then), mismatched)
    finally:
        await catalog.close()


async def _find(catalog: Catalog, content_digest: str) -> Manifest | None:
    builds: Sequence[Manifest] = await catalog.list()
    return next((one for one in builds if one.content_digest == content_digest), None)


def _chunk_ids(settings: IngestionSettings, manifest: Manifest) -> frozenset[str]:
    """Return the ids of a build's chunks, from what it was made of; no index is opened."""
    records = BuildRecords(settings.records_dir)
    found = [
        record
        for source in manifest.sources
        for record in records.read(manifest.build, source).values()
    ]
    return frozenset(chunk.chunk_id for chunk in deduplicate(found).chunks)
