from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from backend.support.features import FEATURE_NAMES
from evals.citation_changes import CHANGES
from evals.citation_fit import fit
from evals.citation_pairs import NEIGHBOUR, Pair, build_pairs
from evals.citation_paraphrases import PARAPHRASES
from evals.citations import evaluate, measure, pairs_of
from evals.errors import EvalSetError
from evals.sets import Section

SENTENCE = (
    "If you need to use more than 5 workers, the Server does not allow `wsl --install` in v2.1."
)
SAMPLE = Path("evals/sets/python_reference")


def seeded() -> Random:
    return Random(1)  # noqa: S311 - reproducible choice


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_a_change_alters_the_sentence_and_is_reproducible(change: str) -> None:
    passage = SENTENCE + " The Client allows `wsl --remove` and 7 workers."
    changed = CHANGES[change](SENTENCE, seeded(), passage)
    assert changed is not None
    assert changed != SENTENCE
    assert changed == CHANGES[change](SENTENCE, seeded(), passage)


def test_rules_say_so_where_they_do_not_apply() -> None:
    bare = "Nothing here applies"
    assert CHANGES["number"](bare, seeded(), bare) is None
    assert CHANGES["version"](bare, seeded(), bare) is None
    assert all(rule(bare, seeded()) is None for rule in PARAPHRASES.values())


def invented_sections() -> list[Section]:
    return [
        Section(
            id=f"page{i // 2}#{i}",
            title="Guide",
            heading="Limits",
            text=f"The server allows {i + 3} workers when it is started with the default settings. "
            f"It does not keep the results of job {i} after the process has ended normally.",
        )
        for i in range(12)
    ]


@pytest.fixture(scope="module")
def sample_pairs() -> list[Pair]:
    return pairs_of(SAMPLE)


def test_pairs_are_deterministic_and_pages_stand_in_one_half() -> None:
    sections = invented_sections()
    pairs = build_pairs(sections)
    assert pairs == build_pairs(sections)
    halves: dict[str, set[str]] = {}
    for pair in pairs:
        halves.setdefault(pair.section_id.partition("#")[0], set()).add(pair.half)
    assert all(len(half) == 1 for half in halves.values())
    assert {half for found in halves.values() for half in found} == {"dev", "test"}
    assert {pair.change for pair in pairs if not pair.supported} >= {NEIGHBOUR, "number"}


def test_a_changed_sentence_is_not_in_its_passage(sample_pairs: list[Pair]) -> None:
    for pair in sample_pairs:
        if not pair.supported:
            assert " ".join(pair.sentence.split()) not in " ".join(pair.passage.split())


def test_the_check_separates_on_the_half_of_the_sample_it_was_not_fitted_on() -> None:
    result = measure(SAMPLE, "test")
    assert result.auroc >= 0.97
    assert result.precision >= 0.92
    assert result.recall >= 0.97
    assert result.by_change["negation"].accepted <= 0.1


def test_the_result_is_plain_json(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"id": "q", "question": "?"}\n')
    lines = [section.model_dump_json() for section in invented_sections()]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    result = evaluate(tmp_path, "test")
    assert {"auroc", "precision", "recall", "by_change", "n", "split"} <= result.keys()
    assert json.loads(json.dumps(result))["split"] == "test"


def test_a_set_without_a_corpus_is_refused(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"id": "q", "question": "?"}\n')
    with pytest.raises(EvalSetError, match="no corpus"):
        evaluate(tmp_path)


def test_fitting_gives_every_signal_its_meaning(sample_pairs: list[Pair]) -> None:
    fitted = fit([pair for pair in sample_pairs if pair.half == "dev"])
    assert fitted.weights.keys() == set(FEATURE_NAMES)
    raising = {"passage_coverage", "window_coverage", "order", "fuzzy"}
    for name, weight in fitted.weights.items():
        assert weight >= 0 if name in raising else weight <= 0


@pytest.mark.shared
def test_the_target_holds_on_documentation_that_took_no_part() -> None:
    folder = Path("../shared/eval")
    if not folder.is_dir():
        pytest.skip("the measuring data beside the project is absent")
    assert measure(folder / "anthropic_docs", "test").auroc >= 0.92
    assert measure(folder / "wsl_docs", "test").auroc >= 0.92
