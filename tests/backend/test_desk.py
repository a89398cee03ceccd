"""The reviewer's desk: labels, the set made of them, gaps, and what another threshold would do."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from math import comb
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from backend.desk.gaps import JOINING_COSINE, Refused, cluster, group, suggest_heading
from backend.desk.what_if import PastAsk, curve, rates, rejudge, threshold_of, with_threshold
from backend.pages.candidates import candidate_table
from backend.verdict.guard import CalibratedRule, FixedRule, Rule
from evals.observations import Observation
from evals.operating import judged, refused_share
from evals.sets import load_set
from knowledge.contracts import FilteredHit, StageOrder
from retrieval.embedding import FastembedEmbedder
from retrieval.models import resolve_model
from tests.backend.conftest import Connect
from tests.backend.factories import make_artefact, make_result
from tests.backend.fakes import FakeAgent, FakeKnowledge, says

PLANTED = {
    "sign-on": (
        "Does it support single sign-on?",
        "How do I sign in with SAML?",
        "Can users sign in with their company account?",
        "Which single sign-on providers are supported?",
        "How is SAML single sign-on configured?",
    ),
    "shipping": (
        "How long does shipping take?",
        "What does delivery cost?",
        "Can I track the shipping of my parcel?",
        "Do you deliver parcels abroad?",
        "Is the delivery of parcels insured?",
    ),
    "gardening": (
        "When should I plant tomatoes?",
        "How often do tomato plants need water?",
        "Which soil do tomatoes like?",
        "Why do the leaves of my tomato plants turn yellow?",
        "How far apart are tomatoes planted?",
    ),
    "printer": (
        "Why does the printer not print?",
        "How do I install the printer driver?",
        "Which paper does the printer take?",
        "How do I change the ink of the printer?",
        "Can the printer print on both sides of the paper?",
    ),
    "holidays": (
        "How many days of vacation do I get?",
        "How do I request vacation days?",
        "Do unused vacation days expire?",
        "Is vacation paid out when I leave?",
        "Who approves my vacation request?",
    ),
    "database": (
        "How do I migrate the database to PostgreSQL?",
        "Which PostgreSQL version does the database need?",
        "Can the database run on MySQL instead of PostgreSQL?",
        "How do I tune the PostgreSQL database?",
        "How large may the PostgreSQL database grow?",
    ),
}


def adjusted_rand_index(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the agreement of two partitions: 0 by chance, 1 when equal (Hubert, Arabie 1985)."""
    pairs = comb(len(one), 2)
    both = sum(comb(n, 2) for n in Counter(zip(one, other, strict=True)).values())
    first = sum(comb(n, 2) for n in Counter(one).values())
    second = sum(comb(n, 2) for n in Counter(other).values())
    expected = first * second / pairs
    return (both - expected) / ((first + second) / 2 - expected)


def test_planted_refusals_come_out_as_their_topics(tmp_path: Path) -> None:
    resolved = resolve_model("sentence-transformers/all-MiniLM-L6-v2", tmp_path)
    embedder = FastembedEmbedder(resolved, threads=1)
    questions = [question for topic in PLANTED.values() for question in topic]
    topics = [place for place, topic in enumerate(PLANTED.values()) for _ in topic]
    vectors = np.asarray([embedder.embed_query(q) for q in questions], dtype=np.float32)
    found = [0] * len(questions)
    groups = cluster(vectors, JOINING_COSINE)
    for number, places in enumerate(groups):
        for place in places:
            found[place] = number
    assert len(groups) == len(PLANTED)
    assert adjusted_rand_index(topics, found) >= 0.8


def test_gaps_do_not_depend_on_the_order_of_questions() -> None:
    questions = [Refused(str(n), f"question {n}", cosine=0.1 * n) for n in range(4)]
    vectors = [(1.0, 0.0), (0.0, 1.0), (1.0, 0.0), (0.0, 1.0)]
    there = group(questions, vectors)
    back = group(questions[::-1], vectors[::-1])
    assert [{one.ask_id for one in gap.questions} for gap in there] == [{"0", "2"}, {"1", "3"}]
    assert sorted(len(gap.questions) for gap in back) == [2, 2]
    assert there[0].nearest.ask_id == "2"
    assert group([], []) == []


def test_heading_is_made_of_shared_words() -> None:
    questions = ["How do I restore a backup?", "Is every backup encrypted?", "Where is a backup?"]
    assert suggest_heading(questions) == "Backup"
    assert suggest_heading(["why?"]) == "why"


def past(number: int, best: float | None, *, answerable: bool | None, passed: bool) -> PastAsk:
    result = make_result("c1", best_cosine=best) if best is not None else make_result()
    return PastAsk(str(number), f"question {number}", (("q", result),), passed, answerable)


PAST = [
    past(1, 0.9, answerable=True, passed=True),
    past(2, 0.5, answerable=True, passed=True),
    past(3, 0.4, answerable=True, passed=False),
    past(4, 0.5, answerable=False, passed=True),
    past(5, 0.2, answerable=False, passed=False),
    past(6, None, answerable=False, passed=False),
    past(7, 0.3, answerable=None, passed=False),
]


def test_verdicts_flip_exactly_as_the_guard_would_judge() -> None:
    rejudged = rejudge(PAST, FixedRule(0.3, is_default=False))
    assert [one.ask.ask_id for one in rejudged if one.is_flipped] == ["3", "7"]
    at = rejudge(PAST, FixedRule(0.5, is_default=False))
    assert [one.ask.ask_id for one in at if one.is_flipped] == []


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.45, 0.5, 0.51, 1.0])
@pytest.mark.parametrize(
    "rule", [FixedRule(0.5, is_default=False), CalibratedRule(make_artefact())]
)
def test_rates_equal_those_of_the_evaluations(rule: Rule, threshold: float) -> None:
    labelled = [one for one in PAST if one.answerable is not None]
    rejudged = rejudge(labelled, with_threshold(rule, threshold))
    observations = [
        Observation(
            question_id=one.ask.ask_id,
            question=one.ask.question,
            kind="short" if one.ask.answerable else "unanswerable",
            band="recorded",
            signals={},
        )
        for one in rejudged
    ]
    numbers = {one.ask.ask_id: -1.0 if one.number is None else one.number for one in rejudged}
    found = judged(observations, lambda one: numbers[one.question_id], threshold)
    negatives = refused_share([one for one in found if not one.observation.is_answerable])
    here = rates(rejudged, threshold)
    assert negatives is not None
    assert here.leak == pytest.approx(1 - negatives)
    assert here.over_refusal == refused_share([o for o in found if o.observation.is_answerable])
    assert sum(one.passes for one in rejudged if not one.ask.answerable) == pytest.approx(
        (here.leak or 0.0) * 3
    )


def test_curve_trades_leaks_for_refusals() -> None:
    points = curve(rejudge(PAST[:6], FixedRule(0.5, is_default=False)))
    leaks = [point.leak or 0.0 for point in points]
    refusals = [point.over_refusal or 0.0 for point in points]
    assert leaks == sorted(leaks, reverse=True)
    assert refusals == sorted(refusals)
    assert threshold_of(with_threshold(CalibratedRule(make_artefact()), 0.7)) == 0.7


def mixed() -> FakeKnowledge:
    return FakeKnowledge(
        results={
            "What is the text of c1?": make_result("c1", query="What is the text of c1?"),
            "Is SSO free?": make_result("c2", query="Is SSO free?", best_cosine=0.1),
            "Which SSO is there?": make_result("c3", query="Which SSO is there?", best_cosine=0.2),
        }
    )


async def test_labelled_records_become_a_set_that_evaluations_read(
    connect: Connect, tmp_path: Path
) -> None:
    client = await connect(mixed(), FakeAgent(says("The text of c1 [1].")))
    labels = ("right", "should_have_answered", "right")
    for question, label in zip(mixed().results, labels, strict=True):
        ask_id = (await client.post("/ask", json={"question": question})).json()["id"]
        kept = await client.post(
            f"/history/{ask_id}/label", data={"label": label, "comment": " seen "}
        )
        assert kept.status_code == 303
        shown = (await client.get(f"/history/{ask_id}")).text
        assert "seen" in shown
    reply = await client.get("/labelled.zip")
    assert reply.headers["content-type"] == "application/zip"
    ZipFile(BytesIO(reply.content)).extractall(tmp_path)
    made = load_set(tmp_path / "labelled")
    assert {one.question for one in made.queries} == {"What is the text of c1?", "Is SSO free?"}
    assert [one.question for one in made.unanswerable] == ["Which SSO is there?"]
    assert made.unanswerable[0].band == "recorded"
    assert (await client.get("/labelled.zip")).content == reply.content


async def test_the_trace_shows_every_candidate_and_what_became_of_it(connect: Connect) -> None:
    client = await connect(mixed(), FakeAgent(says("The text of c1 [1].")))
    asked = (await client.post("/ask", json={"question": "What is the text of c1?"})).json()
    page = (await client.get(f"/history/{asked['id']}")).text
    assert "All 2 candidates" in page
    assert "among the hits" in page
    assert "below the cut-off" in page


async def test_a_single_passage_still_shows_its_number_by_its_kind(connect: Connect) -> None:
    client = await connect(mixed(), FakeAgent(says("The text of c1 [1].")))
    question = "What is the text of c1?"
    asked = (await client.post("/ask", json={"question": question})).json()
    assert len(asked["retrieved_chunks"]) == 1
    page = (await client.get(f"/a/{asked['id']}")).text
    evidence = page[page.index('id="c-1"') :]
    assert "cosine" in evidence
    assert "0.800" in evidence
    assert not re.search(r"\d\s*%", re.sub(r"<style.*?</style>", "", evidence, flags=re.DOTALL))


def test_a_candidate_table_says_what_became_of_each() -> None:
    found = make_result("c1", query="q")
    left_out = (
        FilteredHit(chunk_id="twin", reason="near_duplicate", duplicate_of="c1"),
        FilteredHit(chunk_id="capped", reason="source_cap"),
    )
    stages = StageOrder(
        dense=("c1", "twin", "low"),
        sparse=("capped", "c1"),
        fused=("c1", "twin", "capped", "far"),
        selected=("c1",),
        cut_at=200,
    )
    table = candidate_table(
        {
            "search": found.model_copy(update={"filtered": left_out}).model_dump(mode="json"),
            "stages": stages.model_dump(mode="json"),
        }
    )
    assert {row.chunk_id: row.fate for row in table.rows} == {
        "c1": "selected",
        "twin": "near_duplicate",
        "capped": "source_cap",
        "far": "below_cut_off",
        "low": "below_floor",
    }
    first = table.rows[0]
    assert (first.dense, first.sparse, first.fused, first.reranked) == (1, 2, 1, None)
    assert first.heading == "A heading"
    assert table.cut_at == 200


def test_a_record_from_before_candidates_were_kept_has_no_table() -> None:
    found = make_result("c1", query="q").model_dump(mode="json")
    assert candidate_table({"search": found}).rows == ()


async def test_unknown_record_and_unknown_label_are_refused(connect: Connect) -> None:
    client = await connect(mixed(), FakeAgent(says("The text of c1 [1].")))
    assert (await client.post("/history/x/label", data={"label": "right"})).status_code == 404
    assert (await client.post("/history/x/label", data={"label": "great"})).status_code == 422


async def test_gaps_are_listed_with_their_nearest_section_and_exported(connect: Connect) -> None:
    client = await connect(mixed(), FakeAgent(says("The text of c1 [1].")))
    for question in (*mixed().results, "How is a tomato planted?"):
        await client.post("/ask", json={"question": question})
    page = (await client.get("/gaps")).text
    assert "A heading" in page
    lines = (await client.get("/gaps.jsonl")).text.splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["count"] for row in rows] == [2, 1]
    assert set(rows[0]["questions"]) == {"Is SSO free?", "Which SSO is there?"}
    assert (rows[0]["nearest_section"], rows[0]["cosine"]) == ("A heading", 0.2)


async def test_what_if_shows_the_verdicts_that_flip(connect: Connect) -> None:
    client = await connect(mixed(), FakeAgent(says("The text of c1 [1].")))
    for question in mixed().results:
        await client.post("/ask", json={"question": question})
    page = (await client.get("/what-if", params={"threshold": 0.15})).text
    assert "Which SSO is there?" in page
    assert "Is SSO free?" not in page
    assert (await client.get("/what-if", params={"threshold": 2})).status_code == 422
