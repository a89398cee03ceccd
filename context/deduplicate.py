"""``deduplicate``: texts that say the same once, exactly first and then nearly.

Exact repetition is found by a hash of the text with case and white space folded, before anything is
embedded. What is left is compared by the cosine of its vectors in one matrix product; the first of
each group stays. Nothing is left out without the text it repeats and the cosine between the two.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from context.contract import Deduplication, FilteredText
from context.errors import BadInputError
from retrieval.chunk import DenseVector

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
) -> Deduplication:
    """Keep the first of each group of texts that say the same.

    Args:
        texts: In order of preference: of two that match, the earlier stays.
        embed: Returns unit vectors for texts, in order.
        threshold_cosine: Two texts at or above it are the same, in (0, 1].
        reference: Texts that every input is compared with first.

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
        near = _near(texts, rest, vectors, threshold_cosine, reference)
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
    texts: Sequence[str],
    rest: Sequence[int],
    vectors: NDArray[np.float32],
    threshold: float,
    reference: Reference | None,
) -> dict[int, FilteredText]:
    found: dict[int, FilteredText] = {}
    known = reference.names if reference is not None else ()
    pool = vectors[:0] if reference is None else reference.vectors
    against_pool = vectors @ pool.T if len(pool) else np.zeros((len(rest), 0), dtype=np.float32)
    among = vectors @ vectors.T
    kept: list[int] = []
    for row, at in enumerate(rest):
        name, cosine = _best(known, against_pool[row], rest, kept, among[row])
        if cosine >= threshold:
            found[at] = FilteredText(
                index=at, text=texts[at], duplicate_of=name, exact=False, cosine=min(1.0, cosine)
            )
        else:
            kept.append(row)
    return found


def _best(
    known: Sequence[str],
    against_known: NDArray[np.float32],
    rest: Sequence[int],
    kept: Sequence[int],
    among: NDArray[np.float32],
) -> tuple[int | str, float]:
    name: int | str = -1
    cosine = -1.0
    if len(known):
        at = int(np.argmax(against_known))
        name, cosine = known[at], float(against_known[at])
    if kept:
        at = kept[int(np.argmax(among[list(kept)]))]
        if float(among[at]) > cosine:
            name, cosine = rest[at], float(among[at])
    return name, cosine
