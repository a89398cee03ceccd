"""Whatever is sent to the open routes, the answer is a documented status and never a crash."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from backend.contract import AskRequest

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from(["question", "top_k", "source", "x"]), children, max_size=4
        )
    ),
    max_leaves=8,
)


@given(_JSON)
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
def test_a_body_is_a_question_fit_for_every_part_or_refused(body: object) -> None:
    try:
        request = AskRequest.model_validate_json(json.dumps(body))
    except ValidationError:
        return
    assert 1 <= len(request.question) <= 2000
    assert request.question == request.question.strip()
    # Fit for the wire and the database: encodable, and without the byte PostgreSQL refuses.
    assert b"\x00" not in request.question.encode()


@given(st.text(alphabet=st.characters(), min_size=1, max_size=50))
def test_every_accepted_question_can_be_stored_and_shown(text: str) -> None:
    try:
        request = AskRequest(question=text)
    except ValidationError:
        return
    assert json.loads(json.dumps(request.question).encode()) == request.question
    assert not any(
        ord(character) < 32 and character not in "\t\n\r" for character in request.question
    )
