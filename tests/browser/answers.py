"""Answers made by hand, one of each kind a page has to show."""

from __future__ import annotations

from backend.contract import (
    Abstention,
    AgentView,
    AskResponse,
    Citation,
    Fidelity,
    GuardView,
    PackingView,
    RetrievedChunk,
    SentenceView,
    Span,
    ToolCallView,
)
from knowledge.contracts import FilteredHit, IndexInfo, SearchHit, SearchResult, Signals, Source
from knowledge.packing import Stretch
from storage.asks import AskRecord

WITH_TEXT = (
    "The with statement is used to wrap the execution of a block with methods defined by a context "
    "manager. This allows common try...except...finally usage patterns to be encapsulated for "
    "convenient reuse.\n\nThe context manager's __enter__() method is invoked. If a target was "
    "included in the with statement, the return value from __enter__() is assigned to it."
)
MANAGER_TEXT = (
    "A context manager is an object that defines the runtime context to be established when "
    "executing a with statement. The context manager handles the entry into, and the exit from, "
    "the desired runtime context for the execution of the block of code.\n\n"
    "object.__enter__(self)\n    Enter the runtime context related to this object.\n\n"
    "object.__exit__(self, exc_type, exc_value, traceback)\n    Exit the runtime context related "
    "to this object. The parameters describe the exception that caused the context to be exited."
)
TRY_TEXT = (
    "The try statement specifies exception handlers and/or cleanup code for a group of statements."
)
ATTACK = (
    "<img src=x onerror=\"document.title='owned'\"><svg onload=\"document.title='owned'\">"
    "<script>document.title='owned'</script>"
)
IDS = [f"5f0c2a6e-0000-5000-8000-00000000000{n}" for n in range(1, 6)]
QUESTION = "How do I define a context manager for use in a with statement?"
HOSTILE_PASSAGE = "hostile"


def make_chunk(
    n: int, text: str, title: str, heading: str, cosine: float, **fields: object
) -> RetrievedChunk:
    known: dict[str, object] = {
        "chunk_id": IDS[n - 1],
        "text": text,
        "source": "python-reference",
        "source_url": f"https://docs.python.org/3/reference/page{n}.html",
        "title": title,
        "section_heading": heading,
        "parent_heading": "Special method names" if title == "Data model" else "",
        "cosine": cosine,
        "fused_rank": n,
        "rrf": 1 / (60 + n),
        "zscore": 4.1 - n,
        "dense_rank": n,
        "sparse_rank": 6 - n,
        "sparse_bm25": 12.3 - n,
        "matched_terms": ("context", "manager"),
        "read_by_agent": True,
        "in_guard_search": True,
        "cited": False,
    }
    return RetrievedChunk.model_validate({**known, **fields})


def make_signals(best: float | None, **fields: object) -> Signals:
    known: dict[str, object] = {
        "best_cosine": best,
        "cosine_margin": 0.213,
        "sparse_per_term": 0.61,
        "term_coverage": 0.82,
        "unknown_terms": 0.0,
        "hit_count": 4,
    }
    return Signals.model_validate({**known, **fields})


INDEX = IndexInfo(
    build="20261129T221400Z",
    embedding_model="all-MiniLM-L6-v2",
    dimension=384,
    profile="default",
    chunks=912,
)


def make_answer() -> AskResponse:
    first = (
        "A context manager is an object that defines the runtime context to be established when "
        "executing a with statement [1]."
    )
    second = "It needs two methods, `__enter__()` and `__exit__()` [1][2]."
    third = "Most people write them as generators."
    answer = f"{first} {second}\n\n{third}"
    quote = (
        "A context manager is an object that defines the runtime context to be established when "
        "executing a with statement."
    )
    other = "The context manager's __enter__() method is invoked."
    start = WITH_TEXT.index(other)
    return AskResponse(
        schema="1",
        id="3f6c1b7e-52a4-4d19-9a51-6b1f0f3f9f01",
        created_at="2026-11-29T22:14:03Z",
        question=QUESTION,
        search_question=QUESTION,
        status="answered",
        abstained=False,
        answer=answer,
        guard=GuardView(
            mode="fixed",
            calibrated=False,
            best_cosine=0.812,
            threshold=0.45,
            signals=make_signals(0.812),
            passed=True,
            reason="The best cosine 0.812 reaches the threshold 0.450.",
        ),
        citations=(
            Citation(
                number=1,
                chunk_id=IDS[0],
                source_url="https://docs.python.org/3/reference/datamodel.html#context-managers",
                title="Data model",
                section_heading="With Statement Context Managers",
                quote=quote,
                span=Span(start=0, end=len(quote)),
                support=0.97,
                verified=True,
            ),
            Citation(
                number=2,
                chunk_id=IDS[1],
                source_url="https://docs.python.org/3/reference/compound_stmts.html#with",
                title="Compound statements",
                section_heading="The with statement",
                quote=other,
                span=Span(start=start, end=start + len(other)),
                support=0.55,
                verified=False,
            ),
        ),
        sentences=(
            SentenceView(
                text=first,
                span=Span(start=0, end=len(first)),
                numbers=(1,),
                support=0.97,
                verified=True,
            ),
            SentenceView(
                text=second,
                span=Span(start=len(first) + 1, end=len(first) + 1 + len(second)),
                numbers=(1, 2),
                support=0.81,
                verified=True,
            ),
            SentenceView(text=third, span=Span(start=answer.index(third), end=len(answer))),
        ),
        removed_markers=(7,),
        retrieved_chunks=(
            make_chunk(
                1,
                MANAGER_TEXT,
                "Data model",
                "With Statement Context Managers",
                0.812,
                cited=True,
                number=1,
            ),
            make_chunk(
                2,
                WITH_TEXT,
                "Compound statements",
                "The with statement",
                0.731,
                cited=True,
                number=2,
            ),
            make_chunk(3, TRY_TEXT, "Compound statements", "The try statement", 0.467, number=3),
            make_chunk(
                4,
                "Coroutine objects are awaitable objects.",
                "Data model",
                "Coroutine Objects",
                0.402,
                read_by_agent=False,
                sparse_rank=None,
            ),
        ),
        filtered=(
            FilteredHit(
                chunk_id=IDS[4],
                reason="near_duplicate",
                duplicate_of=IDS[1],
                duplicate_cosine=0.962,
            ),
        ),
        agent=AgentView(
            kind="extractive",
            model="extractive",
            rounds=0,
            tool_calls=(
                ToolCallView(
                    tool="search_kb",
                    arguments={"query": QUESTION, "top_k": 4},
                    chunk_ids=tuple(IDS[:3]),
                    milliseconds=18.2,
                ),
            ),
            tokens={"prompt": 0, "completion": 0},
        ),
        fidelity=Fidelity(verdict="diverged", shared=tuple(IDS[:3]), guard_only=(IDS[3],)),
        timings_ms={"condense": 0.4, "search": 21.0, "guard": 0.3, "agent": 34.1, "total": 62.0},
        index=INDEX,
    )


def make_refusal() -> AskResponse:
    question = "How long should I boil an egg for a runny yolk?"
    return make_answer().model_copy(
        update={
            "id": "3f6c1b7e-52a4-4d19-9a51-6b1f0f3f9f02",
            "question": question,
            "search_question": question,
            "status": "abstained",
            "abstained": True,
            "answer": "I could not find this in the documentation.",
            "abstention": Abstention(
                reason="weak_evidence",
                detail="The best cosine 0.187 is below the threshold 0.450.",
            ),
            "guard": GuardView(
                mode="fixed",
                calibrated=False,
                best_cosine=0.187,
                threshold=0.45,
                signals=make_signals(
                    0.187, term_coverage=0.12, missing_terms=("yolk", "egg", "boil")
                ),
                passed=False,
                reason="The best cosine 0.187 is below the threshold 0.450.",
            ),
            "citations": (),
            "sentences": (),
            "removed_markers": (),
            "filtered": (),
            "retrieved_chunks": (
                make_chunk(
                    1, TRY_TEXT, "Compound statements", "The try statement", 0.187, number=None
                ),
                make_chunk(
                    2,
                    "Function call coroutine objects.",
                    "Data model",
                    "Coroutines",
                    0.142,
                    read_by_agent=False,
                ),
            ),
        }
    )


def make_clarification() -> AskResponse:
    """A question that names no subject, asked back."""
    question = "does it support <b>SSO</b>?"
    proposals = [f"does {name} support <b>SSO</b>?" for name in ("try", ATTACK)]
    return make_refusal().model_copy(
        update={
            "id": "3f6c1b7e-52a4-4d19-9a51-6b1f0f3f9f05",
            "question": question,
            "search_question": question,
            "status": "needs_clarification",
            "abstained": False,
            "abstention": None,
            "answer": "Your question does not say what it is about. Which one do you mean?",
            "proposals": tuple(proposals),
        }
    )


def make_hostile_answer() -> AskResponse:
    """An answer in which every text that somebody else wrote tries to run something."""
    attack = ATTACK
    answer = make_answer()
    chunks = tuple(
        chunk.model_copy(
            update={
                "text": attack + chunk.text,
                "title": attack,
                "section_heading": attack,
                "parent_heading": attack,
                "source": attack,
                "source_url": "javascript:document.title='owned'",
                "matched_terms": (attack,),
            }
        )
        for chunk in answer.retrieved_chunks
    )
    citations = tuple(
        citation.model_copy(
            update={
                "title": attack,
                "section_heading": attack,
                "quote": attack,
                "source_url": "javascript:document.title='owned'",
            }
        )
        for citation in answer.citations
    )
    return answer.model_copy(
        update={
            "id": "3f6c1b7e-52a4-4d19-9a51-6b1f0f3f9f03",
            "conversation_id": "3f6c1b7e-52a4-4d19-9a51-6b1f0f3f9f00",
            "question": attack,
            "search_question": attack + " again",
            "answer": (
                f"{attack} [1] [go](javascript:document.title='owned') "
                "![p](http://127.0.0.1:9/pixel.png)"
            ),
            "not_found": (attack,),
            "degraded": (attack,),
            "retrieved_chunks": chunks,
            "citations": citations,
            "sentences": (),
            "agent": answer.agent.model_copy(
                update={
                    "model": attack,
                    "kind": "llm",
                    "tool_calls": (
                        ToolCallView(
                            tool=attack,
                            arguments={attack: attack},
                            chunk_ids=(),
                            milliseconds=1.0,
                            error=attack,
                        ),
                    ),
                }
            ),
        }
    )


def _packed(chunks: tuple[RetrievedChunk, ...]) -> tuple[RetrievedChunk, ...]:
    """Give the agent the first paragraph of the first passage and nothing of the third."""
    kept = (Stretch(start=0, end=chunks[0].text.index("\n\n")),)
    given: dict[int, tuple[Stretch, ...]] = {0: kept, 2: ()}
    return tuple(
        chunk.model_copy(
            update={"given": given.get(at), "read_by_agent": bool(given.get(at, True))}
        )
        for at, chunk in enumerate(chunks)
    )


def make_calibrated_answer() -> AskResponse:
    answer = make_answer()
    return answer.model_copy(
        update={
            "id": "3f6c1b7e-52a4-4d19-9a51-6b1f0f3f9f04",
            "search_question": "define a context manager with statement",
            "degraded": ("calibration_drifted",),
            "fidelity": Fidelity(verdict="exact", shared=tuple(IDS[:3])),
            "agent": answer.agent.model_copy(
                update={"kind": "llm", "model": "small-chat", "rounds": 2}
            ),
            "retrieved_chunks": _packed(answer.retrieved_chunks),
            "packing": (
                PackingView(query=QUESTION, status="applied", origin_tokens=240, tokens=150),
            ),
            "guard": GuardView.model_validate(
                {
                    "mode": "calibrated",
                    "calibrated": True,
                    "best_cosine": 0.812,
                    "threshold": 0.5,
                    "threshold_kind": "probability",
                    "probability": 0.94,
                    "signals": answer.guard.signals,
                    "contributions": [
                        {"name": "best_cosine", "number": 0.812, "contribution": 2.41},
                        {"name": "cosine_margin", "number": 0.213, "contribution": 0.37},
                    ],
                    "passed": True,
                    "reason": "The probability 0.940 reaches the threshold 0.500.",
                }
            ),
        }
    )


def find_passage(chunk_id: str) -> Source:
    """Return one passage of a short document made of the answer's passages."""
    if chunk_id == HOSTILE_PASSAGE:
        return Source(
            chunk_id=chunk_id,
            text=f"{ATTACK}\n{ATTACK}",
            source=ATTACK,
            source_url="javascript:document.title='owned'",
            title=ATTACK,
            section_heading=ATTACK,
            position=0,
        )
    chunks = make_answer().retrieved_chunks
    place = next(n for n, chunk in enumerate(chunks) if chunk.chunk_id == chunk_id)
    chunk = chunks[place]
    return Source(
        chunk_id=chunk_id,
        text=chunk.text,
        source=chunk.source,
        source_url=chunk.source_url,
        title="Data model",
        section_heading=chunk.section_heading,
        position=place,
        previous_chunk_id=chunks[place - 1].chunk_id if place else None,
        next_chunk_id=chunks[place + 1].chunk_id if place + 1 < len(chunks) else None,
    )


def make_record(response: AskResponse) -> AskRecord:
    """Return the record of an answer, as the service keeps it."""
    fields = set(SearchHit.model_fields)
    search = SearchResult(
        query=response.search_question,
        hits=tuple(
            SearchHit.model_validate(chunk.model_dump(include=fields))
            for chunk in response.retrieved_chunks
        ),
        signals=response.guard.signals,
        index=response.index,
    )
    calls = [call.model_dump(mode="json") for call in response.agent.tool_calls]
    return AskRecord.model_validate(
        {
            "id": response.id,
            "created_at": "2026-11-29T22:14:03Z",
            "question": response.question,
            "search_question": response.search_question,
            "top_k": 4,
            "status": response.status,
            "abstained": response.abstained,
            "reason": response.abstention.reason if response.abstention else "",
            "answer": response.answer,
            "raw_text": "" if response.abstained else f"{response.answer} See also [7].",
            "guard_mode": response.guard.mode,
            "best_cosine": response.guard.best_cosine,
            "threshold": response.guard.threshold,
            "fidelity": response.fidelity.verdict,
            "lowest_support": min((c.support for c in response.citations), default=None),
            "agent_kind": response.agent.kind,
            "model": response.agent.model,
            "build": response.index.build,
            "response": response.model_dump(mode="json", by_alias=True),
            "verdict": response.guard.model_dump(mode="json"),
            "searches": [
                {
                    "text": response.search_question,
                    "search": search.model_dump(mode="json"),
                    "stages": {"dense": IDS, "fused": IDS, "selected": IDS[:4]},
                }
            ],
            "tool_calls": calls,
            "prompt": [{"role": "system", "content": "Answer only from the passages."}],
            "audit": [
                {
                    "branch": "guard",
                    "tool": "search_kb",
                    "chunk_ids": IDS,
                    "milliseconds": 17.9,
                    "error": "",
                }
            ],
            "timings_ms": response.timings_ms,
            "versions": {"vouch": "0.1.0"},
        }
    )
