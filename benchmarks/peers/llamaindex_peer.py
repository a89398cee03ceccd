"""LlamaIndex 0.14: its own vector store, fastembed embeddings, BM25 fused by reciprocal ranks."""

import time

import common
from llama_index.core import Settings, SimpleDirectoryReader, StorageContext, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import TextNode
from llama_index.embeddings.fastembed import FastEmbedEmbedding
from llama_index.retrievers.bm25 import BM25Retriever


def embedding(task, threads, batch):
    return FastEmbedEmbedding(
        model_name=common.MODEL,
        threads=threads,
        embed_batch_size=batch,
        **common.register(task["model_dir"]),
    )


def search(task):
    rows, vectors = common.passages(task["corpus"])
    Settings.llm = MockLLM()
    nodes = [
        TextNode(id_=row["id"], text=row["text"], metadata={"url": row["url"]}, embedding=vector)
        for row, vector in zip(rows, vectors.tolist(), strict=True)
    ]
    k = task["k"]
    index = VectorStoreIndex(
        nodes,
        storage_context=StorageContext.from_defaults(),
        embed_model=embedding(task, 1, 10),
    )
    retriever = index.as_retriever(similarity_top_k=k)
    if task["mode"] == "hybrid":
        words = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=k)
        retriever = QueryFusionRetriever(
            [retriever, words],
            similarity_top_k=k,
            num_queries=1,
            mode="reciprocal_rerank",
            use_async=False,
        )

    def call(text):
        assert retriever.retrieve(text)

    common.measure_searches(task, call)


def ingest(task):
    model = embedding(task, task["cores"], task["batch"])
    splitter = SentenceSplitter(chunk_size=180, chunk_overlap=40)
    model.get_text_embedding("warm")
    started = time.perf_counter()
    documents = SimpleDirectoryReader(task["files"]).load_data()
    index = VectorStoreIndex.from_documents(
        documents, embed_model=model, transformations=[splitter]
    )
    seconds = time.perf_counter() - started
    chunks = len(index.docstore.docs)
    common.answer({"seconds": seconds, "chunks": chunks, **common.memory()})


if __name__ == "__main__":
    TASK = common.order()
    {"search": search, "ingest": ingest}[TASK["do"]](TASK)
