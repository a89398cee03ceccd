"""One collection of real embedded builds, and an engine over it whose vectors a test chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from retrieval.builds import BuildCatalog
from retrieval.catalog import check_stamp
from retrieval.chunk import Chunk, DenseVector, Point
from retrieval.engine import Engine
from retrieval.late import LateEmbedder
from retrieval.manifest import Manifest, Stamp
from retrieval.metrics import RetrievalMetrics
from retrieval.profiles import SearchProfile
from retrieval.query_embedding import QueryEmbedder
from retrieval.rerank import Rerankers
from retrieval.search import SearchRequest
from retrieval.serving import ServingBuilds
from retrieval.tokens import Tokenizer
from tests.retrieval.corpus import DIMENSION, SPARSE, chunk, vector
from tests.retrieval.fakes import FakeEmbedder, at_cosine

QUERY = "How do I raise the timeout of the gateway?"
AXIS = vector(1)
STAMP = Stamp(
    embedding_model="fake",
    model_digest="fake-1",
    dimension=DIMENSION,
    header_format="h",
    chunker="c",
    sparse_model=SPARSE.name,
)


class Rig:
    """One collection, and an engine that follows it."""

    def __init__(
        self,
        data_dir: Path,
        tokenizer: Tokenizer,
        *,
        profiles: Mapping[str, SearchProfile] | None = None,
        keep_seconds: float = 30.0,
        rerankers: Rerankers | None = None,
        metrics: RetrievalMetrics | None = None,
        late: LateEmbedder | None = None,
    ) -> None:
        self.catalog = BuildCatalog(data_dir, "docs")
        self.embedder = FakeEmbedder(tokenizer, {QUERY: AXIS})
        builds = ServingBuilds(
            BuildCatalog(data_dir, "docs"),
            lambda manifest: check_stamp(manifest, STAMP, fields=("embedding_model",)),
            keep_seconds=keep_seconds,
            check_seconds=0.0,
        )
        self.engine = Engine(
            builds,
            QueryEmbedder(self.embedder),
            SPARSE,
            profiles=profiles or {"default": SearchProfile()},
            default_profile="default",
            rerankers=rerankers,
            metrics=metrics,
            late=late,
        )

    async def publish(self, points: Sequence[Point], *, model: str = "fake") -> Manifest:
        rows = points[0].late
        late_dimension = 0 if rows is None else rows.shape[1]
        stamp = STAMP.model_copy(
            update={
                "embedding_model": model,
                "late_dimension": late_dimension,
                "parts": "p" if any(point.parts is not None for point in points) else "",
            }
        )
        writer = await self.catalog.create(stamp, "default")
        await writer.write(points)
        manifest = await writer.finish(documents=1, duplicates=0)
        await writer.publish()
        return manifest


def point_at(made: Chunk, cosine: float, seed: int) -> Point:
    return point_with(made, at_cosine(AXIS, cosine, seed))


def point_with(made: Chunk, dense: DenseVector) -> Point:
    return Point(made, dense, SPARSE.embed_document(made.text_for_embedding))


def gateway_corpus() -> list[Point]:
    return [
        point_at(chunk("exact", "Set gateway_timeout to raise the gateway timeout."), 0.62, 11),
        point_at(chunk("dense", "Waiting longer before giving up on a slow upstream."), 0.71, 12),
        point_at(chunk("sparse", "Timeout, timeout, timeout: the gateway timeout."), 0.12, 13),
        point_at(chunk("copy", "Set gateway_timeout to raise the gateway timeout!"), 0.61, 11),
        *(
            point_at(chunk(f"far{n}", f"Nothing about it, number {n}."), 0.05, 20 + n)
            for n in range(8)
        ),
    ]


def ask(top_k: int = 4, **fields: object) -> SearchRequest:
    return replace(SearchRequest(query=QUERY, top_k=top_k), **fields)  # type: ignore[arg-type]
