"""Every text of the pages, read from one catalog, so that a translation is one file."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import JsonValue, TypeAdapter

from service.errors import VouchError

_CATALOG: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


class TextError(VouchError):
    """The catalog is malformed, or a page asks for a text that it does not have."""

    code = "bad_texts"


class Texts:
    """The catalog, by dotted key.

    Args:
        catalog: Nested sections of texts.
    """

    def __init__(self, catalog: dict[str, JsonValue]) -> None:
        self._catalog = catalog

    @classmethod
    def load(cls, path: Path) -> Texts:
        """Read a catalog.

        Raises:
            TextError: The file is not a mapping of texts.
        """
        try:
            return cls(_CATALOG.validate_python(yaml.safe_load(path.read_text(encoding="utf-8"))))
        except (yaml.YAMLError, ValueError) as error:
            raise TextError(f"{path.name} is not a catalog of texts: {error}") from error

    def __call__(self, key: str, **fields: object) -> str:
        """Return the text under a dotted key with its fields filled in.

        Raises:
            TextError: There is no such text, or a field of it is not given.
        """
        text = self._find(key)
        if not isinstance(text, str):
            raise TextError(f"there is no text {key}")
        try:
            return text.format(**fields) if fields else text
        except KeyError as error:
            raise TextError(f"the text {key} needs {error}") from error

    def either(self, key: str, otherwise: str) -> str:
        """Return the text under ``key``, or ``otherwise`` itself when there is none."""
        text = self._find(key)
        return text if isinstance(text, str) else otherwise

    def many(self, key: str) -> tuple[str, ...]:
        """Return the texts of a list.

        Raises:
            TextError: There is no such list.
        """
        texts = self._find(key)
        if not isinstance(texts, list):
            raise TextError(f"there is no list of texts {key}")
        return tuple(str(text) for text in texts)

    def has(self, key: str) -> bool:
        """Whether anything stands under a dotted key."""
        return self._find(key) is not None

    def _find(self, key: str) -> JsonValue:
        found: JsonValue = self._catalog
        for part in key.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        return found
