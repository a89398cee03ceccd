"""``vouch ask``: one question in the terminal, with its verdict and its citations."""

from __future__ import annotations

from rich.markdown import Markdown
from rich.padding import Padding
from rich.text import Text

from backend.contract import AskResponse
from cli.client import default_url, post
from cli.console import out, print_json


def run_ask(question: str, *, source: str, top_k: int, url: str, as_json: bool) -> None:
    """Ask the running API and print the answer.

    Raises:
        ApiRefusedError: The API refused the question or a dependency is away.
        httpx.HTTPError: Nothing answers at the address.
    """
    body = post(
        url or default_url(), "/ask", {"question": question, "source": source, "top_k": top_k}
    )
    if as_json:
        print_json(body)
        return
    response = AskResponse.model_validate(body)
    style = "yellow" if response.abstained else "none"
    out.print(Padding(Markdown(response.answer, style=style), (1, 0)))
    if response.abstention:
        out.print(Text(response.abstention.detail, style="dim"))
    for proposal in response.proposals:
        out.print(Text(f"  {proposal}"))
    for citation in response.citations:
        mark = "verified" if citation.verified else "not verified"
        out.print(
            Text.assemble(
                (f"[{citation.number}] ", "bold"),
                f"{citation.title} > {citation.section_heading}  ",
                (f"support {citation.support:.2f}, {mark}", "dim"),
            )
        )
        out.print(Text(f"    {citation.source_url}", style="blue"))
    line = response.id if response.status == "needs_clarification" else _verdict_line(response)
    out.print(Text(line, style="dim"))


def _verdict_line(response: AskResponse) -> str:
    guard = response.guard
    parts = [f"{response.agent.kind} answer", guard.reason, f"evidence {response.fidelity.verdict}"]
    if response.degraded:
        parts.append("degraded: " + ", ".join(response.degraded))
    return " · ".join(parts) + f" · {response.id}"
