"""``deduplicate``: texts that say the same once, exactly first and then nearly.

Exact repetition is found by a hash of the text with case and white space folded, before anything is
embedded. What is left is compared by the cosine of its vectors in one matrix product; the first of
each group stays. Nothing is left out without the text it repeats and the cosine between the two.

A cosine alone cannot tell a repetition from its opposite: in the language reference the nearest
pairs differ in one word, as in "left justified" and "right justified" at .99. So a near repetition
must also have the same words, but for those that carry nothing, unless the caller asks for less.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from context.contract import Deduplication, FilteredText
from context.errors import BadInputError
from prose.blocks import split_blocks
from prose.words import stem, surface_words
from retrieval.chunk import DenseVector

_EMPTY = frozenset(
    [
        "a",
        "an",
        "the",
        "this",
        "that",
        "these",
        "those",
        "is",
        "are",
        "was",
        "were",
        "be",
        "of",
        "it",
    ]
)

_PROMPT = ">>> "
_BLOCK_ROWS = 256

Embed = Callable[[Sequence[str]], Awaitable[Sequence[DenseVector]]]


@dataclass(frozen=True, slots=True)
class Reference:
    """Texts that count as known already: a list of the caller's, or chunks of a build.

    Attributes:
        names: What a match is called: ``reference:N`` in a list of the caller's, or a chunk id.
        texts: Their texts, for exact matches.
        vectors: Shape (n, dimension), float32, unit rows.
    """

    names: tuple[str, ...]
    texts: tuple[str, ...]
    vectors: NDArray[np.float32]


async def deduplicate(
    texts: Sequence[str],
    embed: Embed,
    *,
    threshold_cosine: float,
    reference: Reference | None = None,
    same_words: bool = True,
) -> Deduplication:
    """Keep the first of each group of texts that say the same.

    Args:
        texts: In order of preference: of two that match, the earlier stays.
        embed: Returns unit vectors for texts, in order.
        threshold_cosine: Two texts at or above it are the same, in (0, 1].
        reference: Texts that every input is compared with first.
        same_words: Whether near repetitions must have the same words; else the cosine decides.

    Raises:
        BadInputError: The threshold is out of (0, 1].
    """
    if not 0.0 < threshold_cosine <= 1.0:
        raise BadInputError(f"threshold is a cosine in (0, 1], not {threshold_cosine}")
    exact = _exact(texts, reference)
    rest = [at for at in range(len(texts)) if at not in exact]
    near: dict[int, FilteredText] = {}
    needs_vectors = len(rest) > 1 or (rest and reference is not None and reference.names)
    if needs_vectors:
        vectors = np.stack(list(await embed([texts[at] for at in rest])))
        known = Known(texts, reference, dimension=vectors.shape[1], same_words=same_words)
        matches = _near(rest, vectors, threshold_cosine, known)
        near = {
            at: FilteredText(
                index=at, text=texts[at], duplicate_of=name, exact=False, cosine=cosine
            )
            for at, (name, cosine) in matches.items()
        }
    filtered = {at: _followed(found, near) for at, found in exact.items()} | near
    kept = tuple(at for at in range(len(texts)) if at not in filtered)
    return Deduplication(
        selected=tuple(texts[at] for at in kept),
        selected_indices=kept,
        filtered=tuple(filtered[at] for at in sorted(filtered)),
        embedded=len(rest) if needs_vectors else 0,
    )


def fold(text: str) -> str:
    """Return a digest that texts share when they differ in case and white space alone."""
    return hashlib.sha256(" ".join(text.casefold().split()).encode()).hexdigest()


def _exact(texts: Sequence[str], reference: Reference | None) -> dict[int, FilteredText]:
    seen: dict[str, int | str] = {}
    if reference is not None:
        for name, text in zip(reference.names, reference.texts, strict=True):
            seen.setdefault(fold(text), name)
    found: dict[int, FilteredText] = {}
    for at, text in enumerate(texts):
        match = seen.setdefault(fold(text), at)
        if match != at:
            found[at] = FilteredText(
                index=at, text=text, duplicate_of=match, exact=True, cosine=1.0
            )
    return found


def _followed(found: FilteredText, near: dict[int, FilteredText]) -> FilteredText:
    """Name a text that stays: what repeats a left-out text repeats what that one was left for."""
    through = near.get(found.duplicate_of) if isinstance(found.duplicate_of, int) else None
    if through is None:
        return found
    return through.model_copy(update={"index": found.index, "text": found.text})


def _near(
    rest: Sequence[int],
    vectors: NDArray[np.float32],
    threshold: float,
    known: Known,
) -> dict[int, tuple[int | str, float]]:
    """Return the match of each near repetition, with their cosine."""
    names: list[int | str] = [*known.names, *rest]
    left_out: set[int] = set()
    found: dict[int, tuple[int | str, float]] = {}
    for row, near in _earlier(vectors, known.vectors, threshold):
        at = rest[row]
        nearest = sorted(
            ((column, cosine) for column, cosine in near if column not in left_out),
            key=lambda pair: (-pair[1], pair[0]),
        )
        match = next((pair for pair in nearest if known.is_alike(at, names[pair[0]])), None)
        if match is not None:
            left_out.add(len(known.names) + row)
            found[at] = names[match[0]], min(1.0, match[1])
    return found


def _earlier(
    vectors: NDArray[np.float32], known: NDArray[np.float32], threshold: float
) -> Iterator[tuple[int, list[tuple[int, float]]]]:
    """Yield each row with the known and the earlier vectors that are near it, and their cosines.

    Most texts are near none: they are passed over in one comparison of a block of rows with
    everything before the block's end.
    """
    everything = np.concatenate([known, vectors])
    for start in range(0, len(vectors), _BLOCK_ROWS):
        block = vectors[start : start + _BLOCK_ROWS]
        cosines = block @ everything[: len(known) + start + len(block)].T
        rows, columns = np.nonzero(cosines >= threshold)
        is_before = columns < len(known) + start + rows
        near: dict[int, list[tuple[int, float]]] = {}
        for row, column in zip(rows[is_before].tolist(), columns[is_before].tolist(), strict=True):
            near.setdefault(row, []).append((column, float(cosines[row, column])))
        for row, pairs in near.items():
            yield start + row, pairs


class Known:
    """What near repetitions are looked for among, and whether two texts are alike in words.

    Args:
        texts: All inputs.
        reference: Known beforehand; None for nothing.
        dimension: Length of the vectors.
        same_words: Whether alike texts have the same words, but for those that carry nothing.
    """

    def __init__(
        self,
        texts: Sequence[str],
        reference: Reference | None,
        *,
        dimension: int,
        same_words: bool,
    ) -> None:
        self.names = reference.names if reference is not None else ()
        self.vectors = (
            reference.vectors
            if reference is not None
            else np.zeros((0, dimension), dtype=np.float32)
        )
        self._same_words = same_words
        self._texts: dict[int | str, str] = dict(enumerate(texts))
        if reference is not None:
            self._texts |= dict(zip(reference.names, reference.texts, strict=True))
        self._words: dict[int | str, frozenset[str]] = {}

    def is_alike(self, left: int | str, right: int | str) -> bool:
        """Whether two near texts, by their names, count as one."""
        return not self._same_words or self._of(left) == self._of(right)

    def _of(self, name: int | str) -> frozenset[str]:
        if name not in self._words:
            self._words[name] = _telling_words(self._texts[name])
        return self._words[name]


def _telling_words(text: str) -> frozenset[str]:
    """Return what makes a text another text; of code everything does, down to its marks."""
    if _PROMPT in text or any(block.kind == "code" for block in split_blocks(text)):
        return frozenset([" ".join(text.split())])
    words = (word.casefold() for word in surface_words(text))
    return frozenset(stem(word) for word in words if word not in _EMPTY)
