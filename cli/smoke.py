"""``vouch smoke``: whether an installation does what it is for, asked from outside."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from backend.contract import AskResponse
from backend.settings import ApiSettings
from cli.client import default_url, post
from cli.console import err
from knowledge.client import KnowledgeClient
from knowledge.pin import read_pin
from knowledge.tools import KnowledgeTools
from service.errors import VouchError
from service.tokens import Claims, TokenSigner

_TOKEN_SECONDS = 60.0
_QUESTIONS_TRIED = 8


class SmokeError(VouchError):
    """Something that a working installation does was not done; the message names it."""

    code = "smoke_failed"


def run_smoke(url: str, *, mcp_url: str, question: str, unanswerable: str) -> None:
    """Go through an installation once and print what was seen.

    Args:
        url: Address of the API; empty: the one ``vouch up`` serves on.
        mcp_url: Address of the tool server; empty: VOUCH_MCP_URL.
        question: One that is answered; empty: one is made from the headings of the index.
        unanswerable: One that is refused.

    Raises:
        SmokeError: A tool, the answer or the refusal is not as it should be.
        KnowledgeError: The tool server cannot be reached, or its tools are not the pinned ones.
        ApiRefusedError: The API refused to answer.
    """
    settings = ApiSettings()
    signer = TokenSigner(settings.signing_key.get_secret_value())
    headings = asyncio.run(_use_tools(mcp_url or settings.mcp_url, signer))
    err.print(f"four tools answer, digest {read_pin().digest[:12]}")
    api = url or default_url()
    questions = [question] if question else [f"What is {heading}?" for heading in headings]
    answer = next(
        (found for asked in questions if (found := _ask(api, asked)).status == "answered"), None
    )
    if answer is None:
        raise SmokeError(f"none of these was answered: {'; '.join(questions)}")
    if not answer.citations:
        raise SmokeError(f"the answer to {answer.question!r} cites nothing")
    err.print(
        f"answered with {len(answer.citations)} citations, evidence {answer.fidelity.verdict}"
    )
    refusal = _ask(api, unanswerable)
    if not refusal.abstained or refusal.citations:
        raise SmokeError(f"{unanswerable!r} was answered instead of refused")
    err.print(f"refused: {refusal.abstention.detail if refusal.abstention else refusal.answer}")


def _ask(url: str, question: str) -> AskResponse:
    return AskResponse.model_validate(post(url, "/ask", {"question": question}))


async def _use_tools(url: str, signer: TokenSigner) -> Sequence[str]:
    """Call every tool once; returns headings to ask about."""
    claims = Claims(
        ask_id="", branch="direct", scopes=("search",), expires_at=time.time() + _TOKEN_SECONDS
    )
    async with KnowledgeClient(url, signer) as client:
        await client.ping()
        return await _call_all(client.bind(claims))


async def _call_all(tools: KnowledgeTools) -> Sequence[str]:
    page = await tools.list_sections()
    headings = [one.section_heading for one in page.sections if one.section_heading]
    if not headings:
        raise SmokeError("the index has no sections")
    found = await tools.search_kb(headings[0], 4)
    if not found.hits:
        raise SmokeError(f"nothing is found for {headings[0]!r}")
    first = found.hits[0].chunk_id
    if (await tools.get_source(first)).chunk_id != first:
        raise SmokeError("a passage cannot be read by its id")
    await tools.get_related(first, 4)
    return headings[:_QUESTIONS_TRIED]
