"""Haystack 3: in-memory document store, fastembed embedder, BM25 joined by reciprocal ranks."""

import time
from pathlib import Path

import common
from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.components.embedders.fastembed import (
    FastembedDocumentEmbedder,
    FastembedTextEmbedder,
)


def search(task):
    rows, vectors = common.passages(task["corpus"])
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(
        [
            Document(id=row["id"], content=row["text"], meta={"url": row["url"]}, embedding=vector)
            for row, vector in zip(rows, vectors.tolist(), strict=True)
        ]
    )
    pipeline = Pipeline()
    pipeline.add_component(
        "embedder",
        FastembedTextEmbedder(
            model=common.MODEL,
            threads=1,
            progress_bar=False,
            model_kwargs=common.register(task["model_dir"]),
        ),
    )
    k = task["k"]
    pipeline.add_component("dense", InMemoryEmbeddingRetriever(store, top_k=k))
    pipeline.connect("embedder.embedding", "dense.query_embedding")
    if task["mode"] == "hybrid":
        pipeline.add_component("words", InMemoryBM25Retriever(store, top_k=k))
        pipeline.add_component(
            "joined", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=k)
        )
        pipeline.connect("dense", "joined")
        pipeline.connect("words", "joined")

    def call(text):
        inputs = {"embedder": {"text": text}}
        if task["mode"] == "hybrid":
            inputs["words"] = {"query": text}
        found = pipeline.run(inputs)
        assert found["joined" if task["mode"] == "hybrid" else "dense"]["documents"]

    common.measure_searches(task, call)


def ingest(task):
    from haystack.components.converters import TextFileToDocument
    from haystack.components.preprocessors import DocumentSplitter
    from haystack.components.writers import DocumentWriter

    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    embedder = FastembedDocumentEmbedder(
        model=common.MODEL,
        threads=task["cores"],
        progress_bar=False,
        batch_size=task["batch"],
        model_kwargs=common.register(task["model_dir"]),
    )
    pipeline = Pipeline()
    pipeline.add_component("read", TextFileToDocument())
    pipeline.add_component(
        "split", DocumentSplitter(split_by="word", split_length=120, split_overlap=26)
    )
    pipeline.add_component("embed", embedder)
    pipeline.add_component("write", DocumentWriter(store))
    pipeline.connect("read", "split")
    pipeline.connect("split", "embed")
    pipeline.connect("embed", "write")
    pipeline.warm_up()
    started = time.perf_counter()
    pipeline.run({"read": {"sources": sorted(Path(task["files"]).glob("*.txt"))}})
    seconds = time.perf_counter() - started
    common.answer({"seconds": seconds, "chunks": store.count_documents(), **common.memory()})


if __name__ == "__main__":
    TASK = common.order()
    {"search": search, "ingest": ingest}[TASK["do"]](TASK)
