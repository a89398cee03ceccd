"""Counting and locating tokens with the embedding model's own tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer as RustTokenizer

from retrieval.errors import ModelUnavailableError


class Tokenizer:
    """The tokenizer of one embedding model, without truncation, padding or special tokens.

    Args:
        definition: The content of a ``tokenizer.json`` file.

    Raises:
        ModelUnavailableError: The content is not a tokenizer.
    """

    def __init__(self, definition: str) -> None:
        try:
            self._tokenizer: RustTokenizer = RustTokenizer.from_str(definition)
        except Exception as error:  # the library raises nothing more precise
            raise ModelUnavailableError("the tokenizer.json is not a tokenizer") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    @property
    def definition(self) -> str:
        """The content of a ``tokenizer.json`` file that makes an equal one."""
        return self._tokenizer.to_str()

    def encode(self, text: str) -> tuple[list[int], int]:
        """Return the ids of a text with the model's special tokens, and how many are its own."""
        encoding = self._tokenizer.encode(text)
        return list(encoding.ids), len(encoding.ids) - sum(encoding.special_tokens_mask)

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding.ids) for encoding in encodings]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span [start, end) of each token, in order."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)
