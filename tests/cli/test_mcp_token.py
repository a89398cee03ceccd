"""A token for an agent opens what it says, sees what it says, and ends."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cli.keys import KeyCommandError
from cli.mcp_token import make_claims
from mcp_server.auth import GrantedToken, TokenGate
from service.tokens import TokenSigner
from tests.e2e.installation import ROOT
from tests.mcp_server.raw import call_modern, result_of
from tests.mcp_server.serving import serve, sign

KEY = "0123456789abcdef"
UNTIL = 4_000_000_000.0


async def test_its_calls_have_its_name_its_labels_and_a_rate_of_their_own() -> None:
    signer = TokenSigner(KEY)
    claims = replace(make_claims("desk", scope="search", labels=["b", "a", "a"]), expires_at=100.0)
    now = [99.0]
    gate = TokenGate({}, signer, clock=lambda: now[0])
    granted = await gate.verify_token(signer.sign(claims))
    assert isinstance(granted, GrantedToken)
    assert granted.caller.name == granted.caller.rate_key == "signed:mcp-desk"
    assert granted.caller.claims.labels == ("a", "b")
    assert granted.scopes == ["search"]
    now[0] = 100.0
    assert await gate.verify_token(signer.sign(claims)) is None


async def test_it_opens_its_own_tools_and_no_others_and_is_limited_by_its_name() -> None:
    token = sign(replace(make_claims("desk", scope="search", labels=["staff"]), expires_at=UNTIL))
    async with serve(mcp_calls_per_minute=1) as running:
        found = await call_modern(running.url, "search_kb", {"query": "limit"}, token=token)
        foreign = await call_modern(
            running.url, "deduplicate", {"texts": ["a"]}, path="/mcp/context", token=token
        )
        own = await call_modern(running.url, "embed_texts", {}, path="/mcp/service", token=token)
        again = await call_modern(running.url, "search_kb", {"query": "limit"}, token=token)
    assert result_of(found).get("isError") is not True
    assert (foreign.status_code, own.status_code) == (403, 403)
    assert "rate_limited" in str(result_of(again)["content"])


def test_in_production_the_api_does_not_follow_the_code(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "api", "--reload"],
        env={
            "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "VOUCH_ENV": "prod",
            "VOUCH_DATA_DIR": str(tmp_path), "VOUCH_SIGNING_KEY": KEY,
        },
        check=False, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--reload is for development" in done.stderr


@pytest.mark.parametrize(("name", "scope"), [("a b", "search"), ("", "search"), ("a", "service")])
def test_the_apis_own_scope_and_names_unfit_for_a_log_are_refused(name: str, scope: str) -> None:
    with pytest.raises(KeyCommandError):
        make_claims(name, scope=scope, labels=[])
