"""``vouch search``: the ranked passages for a query, with the number of every stage."""

from __future__ import annotations

from pydantic import JsonValue
from rich.table import Table
from rich.text import Text

from cli.client import default_url, post
from cli.console import out, print_json
from knowledge.contracts import SearchHit, StageOrder

_EXCERPT_CHARACTERS = 90


def run_search(
    query: str, *, source: str, profile: str, top_n: int, explain: str, url: str, as_json: bool
) -> None:
    """Search through the running API and print a table.

    Raises:
        ApiRefusedError: The API refused the search or a dependency is away.
        httpx.HTTPError: Nothing answers at the address.
    """
    request: dict[str, JsonValue] = {"query": query, "top_n": top_n}
    if profile:
        request["profile"] = profile
    if source:
        request["filters"] = {"source": source}
    if explain:
        request["explain"] = explain
    body = post(url or default_url(), "/api/v1/retrieval/search", request)
    if as_json:
        print_json(body)
        return
    hits = body.get("hits")
    if isinstance(hits, list):
        stages = StageOrder.model_validate(body.get("stages") or {})
        out.print(_table([SearchHit.model_validate(hit) for hit in hits], stages))
    explanation = body.get("explanation")
    if isinstance(explanation, dict):
        out.print(Text(f"{explain}: {explanation.get('kind')}", style="bold"))
        out.print(Text(str(explanation.get("detail", ""))))


def _table(hits: list[SearchHit], stages: StageOrder) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("#", "cosine", "part", "dense", "sparse", "bm25", "rerank", "passage"):
        table.add_column(heading, justify="left" if heading == "passage" else "right")
    for hit in hits:
        place = f"{hit.title} > {hit.section_heading}"
        excerpt = " ".join(hit.text.split())[:_EXCERPT_CHARACTERS]
        table.add_row(
            str(hit.fused_rank),
            f"{hit.cosine:.3f}",
            _number(stages.part_cosines.get(hit.chunk_id), "{:.3f}"),
            _number(hit.dense_rank),
            _number(hit.sparse_rank),
            _number(hit.sparse_bm25, "{:.2f}"),
            _number(hit.rerank_logit, "{:.2f}"),
            Text.assemble((place, "bold"), "\n", excerpt, "\n", (hit.chunk_id, "dim")),
        )
    return table


def _number(number: float | None, form: str = "{}") -> str:
    return "-" if number is None else form.format(number)
