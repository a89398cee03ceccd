"""What a memory is found by: its scope, its owner and its metadata, as short texts and numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from pydantic import JsonValue

from context.contract_memory import Scope
from context.errors import BadInputError, UnscopedError
from retrieval.memory import AllOf, Fact

Scalar: TypeAlias = str | int | float | bool

FIELD_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
CREATED_AT = "created_at"
_MOST_FIELDS = 32
_MOST_VALUES = 32
_LONGEST_TEXT = 500
_ID = re.compile(r"[^\x00-\x1f\x7f]{1,200}")
_OWNER = "@owner"
_MEMORY_ID = "@memory_id"
_EXAMPLE = '{"scope": {"user_id": "ada"}, "query": "favourite editor"}'


def checked_scope(scope: Scope) -> Scope:
    """Return a scope with blanks trimmed.

    Raises:
        UnscopedError: None of the three ids is given, or one cannot be an id.
    """
    given = {name: value.strip() for name, value in scope.model_dump().items()}
    if not any(given.values()):
        raise UnscopedError(
            f"a memory needs a scope: user_id, agent_id or run_id, for example {_EXAMPLE}"
        )
    for name, value in given.items():
        if value and not _ID.fullmatch(value):
            raise UnscopedError(
                f"{name} has 1 to 200 characters and no control characters, for example {_EXAMPLE}"
            )
    return Scope.model_validate(given)


def scope_facts(scope: Scope, owner: str) -> tuple[str, ...]:
    """Return the facts of a checked scope and of whoever owns the memory."""
    ids = [(f"@{name}", value) for name, value in scope.model_dump().items() if value]
    return tuple(fact(name, value) for name, value in [(_OWNER, owner), *ids])


def within(scope: Scope, owner: str) -> AllOf:
    """Return the condition that holds for what the owner remembered in exactly these ids.

    An id that is not given may be anything: a search for a user finds that user's memories of all
    runs. The owner is who the token says, so that no argument reaches another caller's memories.
    """
    return AllOf(tuple(Fact((text,)) for text in scope_facts(scope, owner)))


def id_fact(memory_id: str) -> str:
    """Return the fact that names one memory."""
    return fact(_MEMORY_ID, memory_id)


def fact(name: str, value: Scalar) -> str:
    """Return a value under a name; 1 and 1.0 are the same, true and 1 are not."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{name}={float(value)!r}"
    return f"{name}={json.dumps(value, ensure_ascii=False)}"


def metadata_facts(metadata: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Return the facts of metadata: each value under its name, and that the name is there.

    Raises:
        BadInputError: A name or a value cannot be stored.
    """
    if len(metadata) > _MOST_FIELDS:
        raise BadInputError(f"metadata has at most {_MOST_FIELDS} fields")
    found: list[str] = []
    for name, value in metadata.items():
        values = list(_values(name, value))
        found += [name] if values else []
        found += [fact(name, each) for each in values]
    return tuple(dict.fromkeys(found))


def metadata_numbers(metadata: Mapping[str, JsonValue]) -> dict[str, tuple[float, ...]]:
    """Return the numbers of metadata, by name."""
    numbers = {
        name: tuple(
            float(each)
            for each in _values(name, value)
            if isinstance(each, int | float) and not isinstance(each, bool)
        )
        for name, value in metadata.items()
    }
    return {name: values for name, values in numbers.items() if values}


def _values(name: str, value: JsonValue) -> Iterator[Scalar]:
    if not FIELD_NAME.fullmatch(name) or name == CREATED_AT:
        raise BadInputError(
            f"{name[:80]!r} cannot name a field of metadata: letters, digits and _, "
            f"not starting with a digit, and not {CREATED_AT}"
        )
    values = value if isinstance(value, list) else [value]
    if len(values) > _MOST_VALUES:
        raise BadInputError(f"{name!r} has more than {_MOST_VALUES} values")
    for each in values:
        if each is None:
            continue
        if isinstance(each, dict | list):
            raise BadInputError(f"{name!r} is a text, number or truth value, or a list of them")
        if isinstance(each, str) and len(each) > _LONGEST_TEXT:
            raise BadInputError(f"{name!r} is over {_LONGEST_TEXT} characters")
        if isinstance(each, float) and not math.isfinite(each):
            raise BadInputError(f"{name!r} is not a finite number")
        yield each
