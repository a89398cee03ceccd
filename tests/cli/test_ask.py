"""A question without a subject is asked back in the terminal too."""

from __future__ import annotations

import pytest
from fastapi import FastAPI

from backend.contract import AskRequest, AskResponse
from cli.ask import run_ask
from tests.browser.answers import make_clarification
from tests.browser.serving import serve


def make_api() -> FastAPI:
    app = FastAPI()

    @app.post("/ask")
    async def ask(body: AskRequest) -> AskResponse:
        return make_clarification()

    return app


def test_question_without_a_subject_is_asked_back_with_what_it_could_be(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with serve(make_api) as serving:
        run_ask("does it?", source="", top_k=4, url=serving.url, as_json=False)
    printed = capsys.readouterr().out
    assert "Which one do you mean?" in printed
    assert "does try support" in printed
    assert "threshold" not in printed
