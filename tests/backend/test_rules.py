"""Which rule is in force: a usable calibration, a floor set by hand, or the model's default."""

from __future__ import annotations

import pytest

from backend.settings import GuardModeSetting
from backend.verdict.calibration_artefact import CalibrationArtefact
from backend.verdict.corpus_drift import CorpusDrift
from backend.verdict.guard import CalibratedRule, FixedRule
from backend.verdict.rules import RuleBook, RuleInForce
from backend.verdict.thresholds import default_threshold
from knowledge.contracts import IndexInfo
from knowledge.errors import KnowledgeUnavailableError
from storage.calibrations import CalibrationRecord
from storage.errors import DatabaseUnavailableError
from tests.backend.factories import INDEX, make_artefact
from tests.backend.fakes import FakeKnowledge

OTHER_MODEL = INDEX.model_copy(update={"embedding_model": "other-model"})


class Shelf:
    """A store with at most one artefact, that can be down."""

    def __init__(self, artefact: CalibrationArtefact | None = None, **check: object) -> None:
        self.is_down = False
        self.reads = 0
        self.record: CalibrationRecord | None = None
        if artefact is not None:
            self.record = CalibrationRecord.model_validate(
                {
                    "id": artefact.digest(),
                    "artefact": artefact.model_dump(mode="json"),
                    "drift_check": check,
                }
            )

    async def in_force(self) -> CalibrationRecord | None:
        if self.is_down:
            raise DatabaseUnavailableError("down")
        self.reads += 1
        return self.record

    async def find(self, calibration_id: str) -> CalibrationRecord | None:
        return self.record if self.record and self.record.id == calibration_id else None


async def rule(
    shelf: Shelf,
    *,
    mode: GuardModeSetting = "auto",
    floor: float | None = None,
    index: IndexInfo = INDEX,
) -> RuleInForce:
    return await RuleBook(shelf, mode=mode, floor_cosine=floor).rule_for(index)


async def test_without_a_calibration_auto_is_the_models_default() -> None:
    found = await rule(Shelf())
    assert found.rule == FixedRule(default_threshold("all-MiniLM-L6-v2").cosine, is_default=True)
    assert found.degraded == ()


async def test_a_fresh_calibration_is_in_force_with_its_id() -> None:
    artefact = make_artefact()
    found = await rule(Shelf(artefact))
    assert found.rule == CalibratedRule(artefact)
    assert (found.state, found.calibration) == ("fresh", artefact.digest())


async def test_fixed_mode_never_looks_at_a_calibration() -> None:
    shelf = Shelf(make_artefact())
    assert isinstance((await rule(shelf, mode="fixed")).rule, FixedRule)
    assert shelf.reads == 0


async def test_a_drifted_calibration_is_used_and_said() -> None:
    found = await rule(Shelf(make_artefact()), index=INDEX.model_copy(update={"build": "b2"}))
    assert isinstance(found.rule, CalibratedRule)
    assert found.degraded == ("calibration_drifted",)


async def test_a_void_calibration_is_never_used_and_said() -> None:
    for found in (
        await rule(Shelf(make_artefact()), index=INDEX.model_copy(update={"chunker": "c2"})),
        await rule(Shelf(make_artefact(), build="b1", changed_share=0.0, passed=False)),
        await rule(Shelf(make_artefact(), build="b1", changed_share=0.2, passed=True)),
    ):
        assert isinstance(found.rule, FixedRule)
        assert found.degraded == ("calibration_void",)


@pytest.mark.parametrize(
    ("share", "state"), [(0.04, "drifted"), (0.1, "drifted"), (0.11, "void"), (1.0, "void")]
)
async def test_content_that_changed_too_much_voids_by_itself(share: float, state: str) -> None:
    stamp = {"sketch": (1, 2, 3), "content_digest": "then"}
    artefact = make_artefact()
    artefact = artefact.model_copy(update={"stamp": artefact.stamp.model_copy(update=stamp)})
    index = INDEX.model_copy(update={"build": "b2", "content_digest": "now"})
    knowledge = FakeKnowledge(index=index, changed_share=share)
    drift = CorpusDrift(knowledge)
    book = RuleBook(Shelf(artefact), mode="auto", floor_cosine=None, drift=drift)
    assert [(await book.rule_for(index)).state for _ in range(3)] == [state] * 3
    assert knowledge.compared == 1


async def test_content_that_cannot_be_compared_is_drifted_and_said() -> None:
    artefact = make_artefact()
    stamp = artefact.stamp.model_copy(update={"sketch": (1, 2), "content_digest": "then"})
    artefact = artefact.model_copy(update={"stamp": stamp})
    index = INDEX.model_copy(update={"build": "b2", "content_digest": "now"})
    knowledge = FakeKnowledge(index=index, index_failure=KnowledgeUnavailableError("away"))
    book = RuleBook(Shelf(artefact), mode="auto", floor_cosine=None, drift=CorpusDrift(knowledge))
    assert (await book.rule_for(index)).degraded == ("calibration_drifted",)


async def test_a_floor_holds_in_every_mode() -> None:
    assert (await rule(Shelf(), floor=0.3)).rule == FixedRule(0.3, is_default=False)
    calibrated = (await rule(Shelf(make_artefact()), floor=0.3)).rule
    assert isinstance(calibrated, CalibratedRule)
    assert calibrated.floor_cosine == 0.3


async def test_asking_for_a_calibration_that_is_not_there_is_said() -> None:
    assert (await rule(Shelf(), mode="calibrated")).degraded == ("calibration_missing",)


async def test_a_model_without_a_default_is_said() -> None:
    assert (await rule(Shelf(), index=OTHER_MODEL)).degraded == ("threshold_not_made_for_model",)


async def test_a_store_that_is_down_leaves_the_last_known_calibration_in_force() -> None:
    shelf = Shelf(make_artefact())
    book = RuleBook(shelf, mode="auto", floor_cosine=None, fresh_seconds=-1.0)
    await book.rule_for(INDEX)
    shelf.is_down = True
    found = await book.rule_for(INDEX)
    assert isinstance(found.rule, CalibratedRule)
    assert found.degraded == ("calibration_unreadable",)


async def test_an_artefact_of_another_version_is_not_used() -> None:
    shelf = Shelf(make_artefact())
    assert shelf.record is not None
    shelf.record.artefact = {"schema_version": "99"}
    assert isinstance((await rule(shelf)).rule, FixedRule)
