"""Which rule the guard follows now: the calibration in force, or a fixed threshold.

A calibration that is void is never used, and a drifted one never silently.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue, ValidationError

from backend.contract import GuardView
from backend.settings import GuardModeSetting
from backend.verdict.calibration import DriftCheck, state_of
from backend.verdict.calibration_artefact import CalibrationArtefact, CalibrationState
from backend.verdict.corpus_drift import CorpusDrift
from backend.verdict.guard import CalibratedRule, FixedRule, Rule
from backend.verdict.thresholds import default_threshold
from knowledge.contracts import IndexInfo
from service.logs import get_logger
from storage.calibrations import CalibrationRecord
from storage.errors import StorageError

_logger = get_logger(__name__)


class Calibrations(Protocol):
    """Where artefacts are kept."""

    async def in_force(self) -> CalibrationRecord | None:
        """Return the newest active artefact, or None."""
        ...

    async def find(self, calibration_id: str) -> CalibrationRecord | None:
        """Return the artefact with this id, active or not, or None."""
        ...


@dataclass(frozen=True, slots=True)
class RuleInForce:
    """A rule and what fell back on the way to it.

    Attributes:
        calibration: Id of the artefact behind the rule; empty in fixed mode.
        state: Of the artefact that was looked at; None when there is none.
        degraded: Names for the response.
    """

    rule: Rule
    calibration: str = ""
    state: CalibrationState | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Loaded:
    id: str
    artefact: CalibrationArtefact
    check: DriftCheck | None


class RuleBook:
    """Finds the rule for an index.

    Args:
        calibrations: Where artefacts are kept.
        mode: ``auto`` and ``calibrated`` use a usable artefact; ``fixed`` never does.
        floor_cosine: Set by hand; holds in every mode. None for no floor.
        drift: Says how far the corpus is from the calibrated one; None: only counts are known.
        fresh_seconds: How long an artefact that was looked up is believed to be the newest.
        clock: Returns monotonic seconds.
    """

    def __init__(
        self,
        calibrations: Calibrations,
        *,
        mode: GuardModeSetting,
        floor_cosine: float | None,
        drift: CorpusDrift | None = None,
        fresh_seconds: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._calibrations = calibrations
        self._mode = mode
        self._floor_cosine = floor_cosine
        self._drift = drift
        self._fresh_seconds = fresh_seconds
        self._clock = clock
        self._loaded: _Loaded | None = None
        self._looked_at: float | None = None

    async def rule_for(self, index: IndexInfo) -> RuleInForce:
        """Return the rule for an index; never fails, and says what it had to do without."""
        if self._mode == "fixed":
            return self._fixed(index, ())
        degraded: tuple[str, ...] = ()
        try:
            await self._look()
        except StorageError as error:
            _logger.warning("calibration cannot be read", detail=str(error))
            degraded = ("calibration_unreadable",)
        found = self._loaded
        if found is None:
            missing = ("calibration_missing",) if self._mode == "calibrated" else ()
            return self._fixed(index, degraded or missing)
        artefact = found.artefact
        check = await self._drift_check(found, index)
        state = state_of(artefact.stamp, index, artefact.drift_limit, check)
        if state == "void":
            return self._fixed(index, (*degraded, "calibration_void"), state)
        drifted = ("calibration_drifted",) if state == "drifted" else ()
        rule = CalibratedRule(artefact, self._floor_cosine)
        return RuleInForce(rule, found.id, state, (*degraded, *drifted))

    async def _drift_check(self, found: _Loaded, index: IndexInfo) -> DriftCheck | None:
        """Return the operator's check of this build, or else how far its content is away."""
        if found.check is not None and found.check.build == index.build:
            return found.check
        if self._drift is None:
            return None
        return await self._drift.check(found.artefact.stamp, index)

    def _fixed(
        self, index: IndexInfo, degraded: tuple[str, ...], state: CalibrationState | None = None
    ) -> RuleInForce:
        if self._floor_cosine is not None:
            rule = FixedRule(threshold_cosine=self._floor_cosine, is_default=False)
            return RuleInForce(rule, state=state, degraded=degraded)
        default = default_threshold(index.embedding_model)
        unknown = () if default.is_known else ("threshold_not_made_for_model",)
        rule = FixedRule(threshold_cosine=default.cosine, is_default=True)
        return RuleInForce(rule, state=state, degraded=(*degraded, *unknown))

    async def recorded_rule(
        self, guard: GuardView, calibration: str, index: IndexInfo
    ) -> Rule | None:
        """Return the rule a recorded verdict was made under; None when its artefact is gone.

        Args:
            guard: The recorded verdict.
            calibration: Id of the artefact it names; empty in fixed mode.
            index: The index it was made on.

        Raises:
            StorageError: The artefact cannot be read.
        """
        if guard.mode == "fixed":
            is_default = guard.threshold == default_threshold(index.embedding_model).cosine
            return FixedRule(threshold_cosine=guard.threshold, is_default=is_default)
        record = await self._calibrations.find(calibration)
        loaded = _read(record) if record is not None else None
        return CalibratedRule(loaded.artefact, self._floor_cosine) if loaded else None

    async def _look(self) -> None:
        now = self._clock()
        if self._looked_at is not None and now - self._looked_at <= self._fresh_seconds:
            return
        record = await self._calibrations.in_force()
        self._loaded = _read(record) if record is not None else None
        self._looked_at = now


def _read(record: CalibrationRecord) -> _Loaded | None:
    try:
        artefact = CalibrationArtefact.model_validate(record.artefact)
    except ValidationError:
        _logger.exception("calibration is not one this version understands", calibration=record.id)
        return None
    return _Loaded(record.id, artefact, _read_check(record.drift_check))


def _read_check(fields: Mapping[str, JsonValue]) -> DriftCheck | None:
    build, share = fields.get("build"), fields.get("changed_share")
    if not isinstance(build, str) or not isinstance(share, int | float):
        return None
    return DriftCheck(build=build, changed_share=share, passed=fields.get("passed") is True)
