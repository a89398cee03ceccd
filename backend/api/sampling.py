"""A value that fits a JSON schema, with words and numbers as this service really gives them. Pure.

Every field of every model has one meaning, so its name says what a good example of it is. What has
no entry here is made from the schema alone, so that no example ever lacks a field or outlives one.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

Schema = Mapping[str, JsonValue]
_CHUNK_ID = "5f0c2a6e-8f1d-5d2a-9a3e-2b7d1c4e6f01"
_ASK_ID = "3f6c1b7e-52a4-4d19-9a51-6b1f0f3f9f01"
_QUESTION = "What does the yield expression do?"
_SENTENCE = "The yield expression is used when defining a generator function."
_MOMENT = "2026-11-29T22:14:03Z"
_URL = "https://docs.python.org/3/reference/expressions.html#yield-expressions"
_DEEPEST = 20

KNOWN: Mapping[str, JsonValue] = {
    "ask_id": _ASK_ID, "id": _ASK_ID, "conversation_id": None, "chunk_id": _CHUNK_ID,
    "first_chunk_id": _CHUNK_ID, "question": _QUESTION, "search_question": _QUESTION,
    "query": _QUESTION, "text": _SENTENCE, "answer": f"{_SENTENCE} [1]", "quote": _SENTENCE,
    "answer_html": f'<p>{_SENTENCE} <a class="cite" href="#c-1">[1]</a></p>',
    "title": "Expressions", "section_heading": "Yield expressions", "parent_heading": "Atoms",
    "source": "python-reference", "source_url": _URL, "url": _URL, "name": "python-reference",
    "created_at": _MOMENT, "started_at": _MOMENT, "finished_at": _MOMENT, "ingested_at": _MOMENT,
    "best_cosine": 0.71, "cosine": 0.71, "threshold": 0.3, "probability": 0.92, "support": 1.0,
    "cosine_margin": 0.12, "sparse_per_term": 0.61, "term_coverage": 1.0, "unknown_terms": 0.0,
    "build": "20261129T221400-669699", "embedding_model": "all-MiniLM-L6-v2", "dimension": 384,
    "profile": "default", "chunker": "structural", "chunks": 1111, "documents": 60,
    "reason": "The closest passage has cosine 0.71, above the threshold.",
    "detail": "The closest passage has cosine 0.71.", "file_path": "/srv/documents/handbook.md",
    "folder_path": "/srv/documents", "file_paths": ["/srv/documents/handbook.md"],
    "content": _QUESTION, "model": "vouch", "kind": "extractive", "milliseconds": 12.4,
    "tool": "search_kb", "arguments": {"query": _QUESTION, "top_k": 4}, "labels": [],
    "timings_ms": {"search": 21.0, "total": 62.0}, "sources": {"python-reference": 845},
    "tokens": {"prompt": 0, "completion": 0}, "error": None, "degraded": [], "missing_terms": [],
    "explanation": None, "filters": None, "abstention": None, "proposals": [], "not_found": [],
    "removed_markers": [], "sketch": [], "state": "done", "files": ["handbook.md"],
}  # fmt: skip


def sample(
    schema: Schema, definitions: Mapping[str, Schema], name: str = "", deep: int = 0
) -> JsonValue:
    """Return a value that fits a schema.

    Args:
        schema: Of the value; an empty one takes anything and gives an empty object.
        definitions: Schemas that references name, by name.
        name: Of the field that the value is for; empty for none.
        deep: How many schemas this one stands in.
    """
    if "const" in schema:
        return schema["const"]
    if name in KNOWN and fits(KNOWN[name], schema, definitions):
        return KNOWN[name]
    if schema.get("default") not in (None, []):
        return schema["default"]
    inner = _inner(schema, definitions)
    if inner is not None:
        return sample(inner, definitions, name, deep + 1)
    if isinstance(values := schema.get("enum"), list):
        return values[0]
    return _plain(schema, definitions, name, deep)


def _inner(schema: Schema, definitions: Mapping[str, Schema]) -> Schema | None:
    """Return the schema that a reference or a choice comes to."""
    if isinstance(reference := schema.get("$ref"), str):
        return definitions[reference.rsplit("/", 1)[-1]]
    for choice in ("anyOf", "oneOf", "allOf"):
        options = schema.get(choice)
        if isinstance(options, list) and options:
            first = options[0]
            return first if isinstance(first, dict) else None
    return None


def _plain(schema: Schema, definitions: Mapping[str, Schema], name: str, deep: int) -> JsonValue:
    match schema.get("type"):
        case "string":
            return _MOMENT if schema.get("format") == "date-time" else name.replace("_", " ")
        case "integer" | "number":
            least = schema.get("minimum", 0)
            return least if isinstance(least, int | float) else 0
        case "boolean":
            return True
        case "null":
            return None
        case "array":
            return _array(schema, definitions, name, deep)
        case _:
            return _object(schema, definitions, deep)


def _array(schema: Schema, definitions: Mapping[str, Schema], name: str, deep: int) -> JsonValue:
    prefix = schema.get("prefixItems")
    if isinstance(prefix, list):
        return [sample(one, definitions, name, deep + 1) for one in prefix if isinstance(one, dict)]
    items = schema.get("items")
    if not isinstance(items, dict) or deep > _DEEPEST:
        return []
    return [sample(items, definitions, name.removesuffix("s"), deep + 1)]


def _object(schema: Schema, definitions: Mapping[str, Schema], deep: int) -> JsonValue:
    properties = schema.get("properties")
    if not isinstance(properties, dict) or deep > _DEEPEST:
        return {}
    return {
        name: sample(one, definitions, name, deep + 1)
        for name, one in properties.items()
        if isinstance(one, dict)
    }


def fits(value: JsonValue, schema: Schema, definitions: Mapping[str, Schema]) -> bool:
    """Whether a known value is of the kind that a schema wants; its inside is not looked at."""
    if isinstance(reference := schema.get("$ref"), str):
        return fits(value, definitions[reference.rsplit("/", 1)[-1]], definitions)
    for choice in ("anyOf", "oneOf", "allOf"):
        options = schema.get(choice)
        if isinstance(options, list):
            return any(isinstance(o, dict) and fits(value, o, definitions) for o in options)
    if isinstance(values := schema.get("enum"), list):
        return value in values
    kinds: dict[str, tuple[type, ...]] = {
        "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,),
        "array": (list,), "object": (dict,), "null": (type(None),),
    }  # fmt: skip
    kind = schema.get("type")
    return isinstance(kind, str) and isinstance(value, kinds[kind])
