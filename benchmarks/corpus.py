"""What is searched: real passages first, and beyond them passages put together from real ones.

The real ones are the Python reference, cut and embedded by the product. Beyond them, a text is two
halves of real texts and its vector a blend of real vectors with some noise, so that word statistics
stay those of prose, and neighbours stay crowded in few directions, as they are in a large corpus.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from ingestion.report import ProgressEvent
from ingestion.run import ingest
from ingestion.settings import IngestionSettings
from ingestion.sources import sample_sources
from retrieval.builds import BuildCatalog
from retrieval.chunk import Chunk, DenseVector, Matrix, Occurrence, Point
from retrieval.manifest import Stamp
from retrieval.opening import open_embedder
from retrieval.opening_models import open_sparse_encoder
from retrieval.store import Filter, StoredPoint

COLLECTION = "docs"
_EVERYTHING = Filter(labels=(), all_labels=True)
_SEED = 20_26
_NOISE = 0.3
_PARTS = 2
_BATCH = 256
_READ = 64
_VECTOR_BATCH = 10_000
_FORMS = (
    "What does {} do?",
    "How is {} used?",
    "When is {} evaluated?",
    "Which rules hold for {}?",
    "What is raised by {}?",
    "Where is {} defined?",
)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Passages with vectors, and questions about them.

    Attributes:
        points: Real ones.
        stamp: What they were made with.
        questions: Distinct, so that no cache knows one before it is asked.
    """

    points: tuple[StoredPoint, ...]
    stamp: Stamp
    questions: tuple[str, ...]


async def open_corpus(work: Path) -> Corpus:
    """Return the corpus, made at the first call and kept in ``work``."""
    settings = IngestionSettings(data_dir=work / "base")
    catalog = BuildCatalog(settings.data_dir, COLLECTION)
    if not await catalog.pointer():
        await ingest(sample_sources()[:1], settings, _silent)
    manifest = await catalog.current()
    assert manifest is not None  # noqa: S101 - it was published just now
    opened = await catalog.open(manifest.build)
    try:
        ids = [point.chunk.chunk_id async for point in opened.store.scan(where=_EVERYTHING)]
        points: list[StoredPoint] = []
        for at in range(0, len(ids), _READ):
            found = await opened.store.read(
                ids[at : at + _READ], where=_EVERYTHING, with_vectors=True
            )
            points += [found[chunk_id] for chunk_id in ids[at : at + _READ]]
    finally:
        await opened.store.close()
    return Corpus(tuple(points), manifest.stamp, tuple(questions_about(points)))


def questions_about(points: Sequence[StoredPoint]) -> Iterator[str]:
    """Yield distinct questions about the headings of passages."""
    headings = dict.fromkeys(
        occurrence.section_heading or occurrence.title
        for point in points
        for occurrence in point.chunk.occurrences[:1]
    )
    for form in _FORMS:
        yield from (form.format(heading) for heading in headings if heading)


def grown(corpus: Corpus, size: int) -> Iterator[tuple[Chunk, DenseVector]]:
    """Yield ``size`` passages with vectors: the real ones, then those put together."""
    real = corpus.points
    for point in real[:size]:
        if point.dense is not None:
            yield point.chunk, point.dense
    vectors = _stacked(corpus)
    random = np.random.default_rng(_SEED)
    for at in range(len(real), size, _VECTOR_BATCH):
        for place, row in enumerate(_blend(vectors, min(_VECTOR_BATCH, size - at), random), at):
            first, second = real[place % len(real)], real[place * 7 % len(real)]
            yield _put_together(first, second, place), row


def _stacked(corpus: Corpus) -> Matrix:
    return np.stack([point.dense for point in corpus.points if point.dense is not None])


def _blend(real: Matrix, count: int, random: np.random.Generator) -> Matrix:
    """Return ``count`` unit vectors between three real ones each, shape (count, dimension)."""
    weights = random.dirichlet((0.6, 0.6, 0.6), count).astype(np.float32)
    chosen = real[random.integers(0, len(real), (count, 3))]
    noise = random.standard_normal((count, real.shape[1]), dtype=np.float32)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    moved = np.einsum("ij,ijk->ik", weights, chosen) + np.float32(_NOISE) * noise
    return np.asarray(moved / np.linalg.norm(moved, axis=1, keepdims=True), dtype=np.float32)


def near_vectors(corpus: Corpus, size: int, target: Path) -> Path:
    """Write ``size`` vectors alone, shape (size, dimension), float32, and return the file."""
    if target.is_file():
        return target
    random = np.random.default_rng(_SEED)
    real = _stacked(corpus)
    rows = np.lib.format.open_memmap(
        target, mode="w+", dtype=np.float32, shape=(size, real.shape[1])
    )
    known = min(size, len(real))
    rows[:known] = real[:known]
    for at in range(known, size, _VECTOR_BATCH):
        count = min(_VECTOR_BATCH, size - at)
        rows[at : at + count] = _blend(real, count, random)
    rows.flush()
    return target


def _put_together(first: StoredPoint, second: StoredPoint, place: int) -> Chunk:
    halves = [point.chunk.text.split() for point in (first, second)]
    text = " ".join([*halves[0][: len(halves[0]) // 2], *halves[1][len(halves[1]) // 2 :]])
    origin = first.chunk.occurrences[0]
    where = Occurrence(
        source="synthetic",
        document_id=f"d{place // 8}",
        source_url=f"https://docs.example/{place // 8}",
        title=origin.title,
        section_heading=origin.section_heading,
        parent_heading=origin.parent_heading,
        position=place % 8,
    )
    chunk_id = str(uuid.uuid5(uuid.NAMESPACE_OID, str(place)))
    embedded = f"{origin.title} > {origin.section_heading}\n{text}"
    return Chunk(chunk_id, text, embedded, (where,))


async def index_of(corpus: Corpus, size: int, work: Path) -> Path:
    """Return a data folder with a published build of ``size`` passages, made when missing."""
    data_dir = work / f"index-{size}"
    catalog = BuildCatalog(data_dir, COLLECTION)
    if await catalog.pointer():
        return data_dir
    settings = IngestionSettings(data_dir=data_dir)
    embedder = await asyncio.to_thread(open_embedder, settings)  # lays the model's files down
    sparse = open_sparse_encoder(settings).fitted(
        chunk.text_for_embedding for chunk, _ in grown(corpus, size)
    )
    stamp = replace_digest(corpus.stamp, embedder.digest)
    writer = await catalog.create(stamp, "default")
    rows, random = grown(corpus, size), np.random.default_rng(_SEED)
    while batch := list(islice(rows, _BATCH)):
        await writer.write(
            [
                Point(c, v, sparse.embed_document(c.text_for_embedding), parts=_parts(v, random))
                for c, v in batch
            ]
        )
    await writer.finish(documents=max(1, size // 8), duplicates=0)
    await writer.publish()
    return data_dir


def _parts(vector: DenseVector, random: np.random.Generator) -> Matrix:
    """Return vectors of a passage's parts near its own, shape (_PARTS, dimension)."""
    noise = random.standard_normal((_PARTS, len(vector)), dtype=np.float32)
    moved = vector + np.float32(_NOISE) * noise / np.linalg.norm(noise, axis=1, keepdims=True)
    return np.asarray(moved / np.linalg.norm(moved, axis=1, keepdims=True), dtype=np.float32)


def replace_digest(stamp: Stamp, digest: str) -> Stamp:
    """Return the stamp of the same parts with a model of this digest."""
    return stamp.model_copy(update={"model_digest": digest})


def write_for_peers(corpus: Corpus, size: int, work: Path) -> Path:
    """Return a folder with the same passages, vectors and questions in plain files."""
    folder = work / f"plain-{size}"
    if (folder / "questions.json").is_file():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    vectors: list[DenseVector] = []
    with (folder / "texts.jsonl").open("w", encoding="utf-8") as sink:
        for chunk, vector in grown(corpus, size):
            sink.write(json.dumps(_plain(chunk)) + "\n")
            vectors.append(vector)
    np.save(folder / "vectors.npy", np.stack(vectors))
    (folder / "questions.json").write_text(json.dumps(corpus.questions), encoding="utf-8")
    return folder


def _plain(chunk: Chunk) -> Mapping[str, str]:
    place = chunk.occurrences[0]
    return {"id": chunk.chunk_id, "text": chunk.text, "url": place.source_url, "title": place.title}


def shifted(questions: Sequence[str], times: int) -> tuple[str, ...]:
    """Return the questions in other words, so that nobody has been asked them before."""
    return tuple(f"{question.rstrip('?')} in version {times + 1}?" for question in questions)


def _silent(event: ProgressEvent) -> None:
    del event
