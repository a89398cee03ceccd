"""Does the sentence that answers survive compression? ``vouch eval compression``.

Each case is compressed to half and to 30% of its tokens with the question as the purpose. Apart
from that, three identifiers or numbers of its passages, chosen by the question, are forced at 30%:
a forced word counts as kept when it stands in the result, and a refused call keeps none.
"""

from __future__ import annotations

import asyncio
import random
import re
from functools import partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from context.compress import CompressRequest, compress
from context.contract import Compression, Passage
from context.errors import DoesNotFitError
from context.forcing import Rules
from context.model import TextModel, closeness
from evals.compression_cases import Case, cases_of
from evals.quotes import normalise
from evals.sets import Split

_HALF = 0.5
_THIRD = 0.3
_FORCED_WORDS = 3
_TELLING = re.compile(r"\w*(?:[a-z][A-Z]|_|\d)\w*")


class CompressionSummary(BaseModel):
    """The object that ``--json`` prints; shares are in [0, 1].

    Attributes:
        kept_at_50: Share of the cases whose answering sentence is whole in half the tokens.
        kept_at_30: Likewise in 30% of them.
        force_kept: Share of the forced words that stand in the result.
        recounted: Share of the results whose reported tokens equal a count of their text.
        rate: Mean of compressed / origin at half.
    """

    model_config = ConfigDict(frozen=True)

    set: str
    split: Split
    n: int
    kept_at_50: float
    kept_at_30: float
    force_kept: float
    recounted: float
    rate: float


async def evaluate(folder: Path, model: TextModel, split: Split = "all") -> CompressionSummary:
    """Measure compression on a set.

    Args:
        folder: A set with a corpus, or the sample set.
        model: Measures closeness and counts tokens.
        split: Half of the questions; the weights were chosen on development halves.

    Raises:
        EvalSetError: The set has no corpus, or no question with a sentence that answers it.
    """
    cases = await asyncio.to_thread(cases_of, folder, split)
    kept = {_HALF: 0, _THIRD: 0}
    recounted = forced = words = 0
    rate = 0.0
    for case in cases:
        for ratio in kept:
            result = await _compressed(case, model, ratio)
            kept[ratio] += normalise(case.gold) in normalise(result.text)
            recounted += result.compressed_tokens == model.tokenizer.count(result.text)
            rate += result.rate if ratio == _HALF else 0.0
        telling = _telling_words(case)
        words += len(telling)
        forced += await _survivors(case, model, telling)
    return CompressionSummary(
        set=folder.name,
        split=split,
        n=len(cases),
        kept_at_50=kept[_HALF] / len(cases),
        kept_at_30=kept[_THIRD] / len(cases),
        force_kept=forced / words if words else 1.0,
        recounted=recounted / (2 * len(cases)),
        rate=rate / len(cases),
    )


async def _compressed(
    case: Case, model: TextModel, ratio: float, force: tuple[str, ...] = ()
) -> Compression:
    request = CompressRequest(
        passages=tuple(
            Passage(id=str(at), text=text) for at, text in enumerate(case.passages, start=1)
        ),
        target_tokens=None,
        ratio=ratio,
        purpose=case.question,
        rules=Rules(force=force),
    )
    return await compress(
        request, model.tokenizer, partial(closeness, model), price_per_million_tokens=0.0
    )


async def _survivors(case: Case, model: TextModel, words: tuple[str, ...]) -> int:
    try:
        result = await _compressed(case, model, _THIRD, words)
    except DoesNotFitError:
        return 0
    return sum(word in result.text for word in words)


def _telling_words(case: Case) -> tuple[str, ...]:
    found = sorted({word for text in case.passages for word in _TELLING.findall(text)})
    chooser = random.Random(case.question)  # noqa: S311 - a choice, not a secret
    return tuple(chooser.sample(found, min(_FORCED_WORDS, len(found))))
