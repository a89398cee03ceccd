"""Asking: what the service adds to embedding and model, and how many questions it bears.

Overhead is the whole time a caller waits, less embedding and model. The embedding of each question
is made beforehand by the tool server itself, so that it costs the ask nothing, and the scripted
model answers at once; what remains is two searches, the verdict, the citations and the record.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import cast

from benchmarks.callers import Load, run_threads
from benchmarks.corpus import index_of, open_corpus, shifted
from benchmarks.errors import BenchmarkError
from benchmarks.processes import Server, cpu_seconds, free_port
from benchmarks.scale import Scale
from benchmarks.stack import Stack, serve
from benchmarks.timing import Times, summarise
from ingestion.settings import IngestionSettings
from retrieval.opening import open_embedder
from service.tokens import Claims

MANY_CALLERS = 32
_WARM = 10
_SECONDS = 60.0
_RAW_QUESTIONS = 100
_NO_RATE = {
    "VOUCH_REQUESTS_PER_MINUTE_PER_KEY": "1000000",
    "VOUCH_REQUESTS_PER_MINUTE_PER_ADDRESS": "1000000",
}


@dataclass(frozen=True, slots=True)
class AgentFigures:
    """One agent's asks.

    Attributes:
        overhead: At one caller, embeddings known beforehand: milliseconds a caller waits.
        stages: Server's own median milliseconds by stage.
        fresh: At one caller, embedding included.
        verdict: Milliseconds until the verdict is sent, embedding included.
        many: At 32 callers with distinct questions.
        cpu_ms: Processor milliseconds of one ask with a known embedding, by process.
        response_bytes: Mean.
        abstained: Of the asks at one caller.
    """

    agent: str
    overhead: Times
    stages: Mapping[str, float]
    fresh: Times
    verdict: Times
    many: Load
    cpu_ms: Mapping[str, float]
    response_bytes: int
    abstained: int


@dataclass(frozen=True, slots=True)
class AskPart:
    """Both agents beside the embedder's raw rate.

    Attributes:
        raw_per_second: Questions one thread embeds and does nothing else.
    """

    agents: tuple[AgentFigures, ...]
    raw_per_second: float
    chunks: int


@dataclass
class _Client:
    """One caller with a connection of its own, as lean as a client can be."""

    port: int
    sizes: list[int] = field(default_factory=list[int])
    stages: dict[str, list[float]] = field(default_factory=dict[str, "list[float]"])
    abstained: int = 0

    def ask(self, question: str) -> float:
        """Return milliseconds one ask took."""
        connection = self._connect()
        started = time.perf_counter()
        answer = _post(connection, question, "application/json")
        content = answer.read()
        taken = (time.perf_counter() - started) * 1000
        connection.close()
        if answer.status != http.client.OK:
            raise BenchmarkError(f"an ask failed with {answer.status}: {content[:200]!r}")
        self._note(content)
        return taken

    def wait_for_verdict(self, question: str) -> float:
        """Return milliseconds until the verdict of one ask was sent."""
        connection = self._connect()
        started = time.perf_counter()
        answer = _post(connection, question, "text/event-stream")
        while line := answer.readline():
            if line.strip() == b"event: verdict":
                break
        taken = (time.perf_counter() - started) * 1000
        answer.read()
        connection.close()
        return taken

    def _connect(self) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)
        connection.connect()
        return connection

    def _note(self, content: bytes) -> None:
        body = cast("dict[str, object]", json.loads(content))
        self.sizes.append(len(content))
        self.abstained += body["status"] != "answered"
        for name, spent in cast("dict[str, float]", body["timings_ms"]).items():
            self.stages.setdefault(name, []).append(spent)


async def measure_ask(scale: Scale, work: Path) -> AskPart:
    """Ask with the extractive agent and with a model that answers at once."""
    corpus = await open_corpus(work)
    data_dir = await index_of(corpus, scale.ask_chunks, work)
    pool = [text for times in range(4) for text in shifted(corpus.questions, times + 10)]
    texts = _Texts(iter(pool), scale.asks)
    raw = await asyncio.to_thread(_raw_rate, data_dir, texts.take(_RAW_QUESTIONS))
    port = free_port()
    model = Server.module("benchmarks.instant_model", f"http://127.0.0.1:{port}", {}, work / "m")
    model.command = (*model.command, str(port))
    model.start()
    try:
        agents = (
            await _measure_agent("extractive", data_dir, texts, {}),
            await _measure_agent(
                "instant model",
                data_dir,
                texts,
                {"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "none"},
            ),
        )
    finally:
        model.stop()
    return AskPart(agents, raw, scale.ask_chunks)


@dataclass
class _Texts:
    """Questions nobody has asked yet."""

    left: Iterator[str]
    asks: int

    def take(self, count: int) -> list[str]:
        """Return so many of them."""
        taken = list(islice(self.left, count))
        if len(taken) < count:
            raise BenchmarkError("the corpus has too few questions for this scale")
        return taken


async def _measure_agent(
    name: str, data_dir: Path, texts: _Texts, environment: Mapping[str, str]
) -> AgentFigures:
    with serve(data_dir, with_api=True, environment={**_NO_RATE, **environment}) as stack:
        client = _Client(stack.api_port)
        for text in texts.take(_WARM):
            client.ask(text)
        known = texts.take(texts.asks)
        await _embed_beforehand(stack, known)
        lean = _Client(stack.api_port)
        before = _cpu(stack)
        overhead = [await asyncio.to_thread(lean.ask, text) for text in known]
        spent = {k: (after - before[k]) * 1000 / len(known) for k, after in _cpu(stack).items()}
        fresh = [await asyncio.to_thread(client.ask, text) for text in texts.take(texts.asks // 2)]
        verdict = [
            await asyncio.to_thread(client.wait_for_verdict, text)
            for text in texts.take(texts.asks // 4)
        ]
        many = await asyncio.to_thread(
            run_threads, _Client(stack.api_port).ask, texts.take(texts.asks), MANY_CALLERS
        )
    return AgentFigures(
        agent=name,
        overhead=summarise(overhead),
        stages={k: round(summarise(v).p50, 1) for k, v in lean.stages.items()},
        fresh=summarise(fresh),
        verdict=summarise(verdict),
        many=many,
        cpu_ms={k: round(v, 2) for k, v in spent.items()},
        response_bytes=sum(lean.sizes) // len(lean.sizes),
        abstained=lean.abstained,
    )


async def _embed_beforehand(stack: Stack, questions: Sequence[str]) -> None:
    claims = Claims(ask_id="", branch="service", scopes=("service",))
    async with stack.client() as client:
        for question in questions:
            await client.measure(question, (), claims)


def _cpu(stack: Stack) -> dict[str, float]:
    pids = {"tool server": stack.mcp.pid} | ({"API": stack.api.pid} if stack.api else {})
    return {name: cpu_seconds(pid) for name, pid in pids.items()}


def _raw_rate(data_dir: Path, questions: Sequence[str]) -> float:
    embedder = open_embedder(IngestionSettings(data_dir=data_dir))
    for question in questions[:_WARM]:
        embedder.embed_query(question)
    started = time.perf_counter()
    for question in questions:
        embedder.embed_query(question)
    return round(len(questions) / (time.perf_counter() - started), 1)


def _post(
    connection: http.client.HTTPConnection, question: str, accept: str
) -> http.client.HTTPResponse:
    body = json.dumps({"question": question}).encode()
    headers = {"content-type": "application/json", "accept": accept}
    connection.request("POST", "/ask", body, headers)
    return connection.getresponse()
