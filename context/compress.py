"""``compress_context``: fewer tokens, the order and the words of the original kept.

Whole pieces are kept or dropped: sentences by relevance to the purpose, place and redundancy; code
blocks and table rows never in part. What the caller forces survives, or the call is refused. Where
not one piece fits, the best sentence is cut backwards at a stop token. The count that is reported
is a count of the text that is returned.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from context.contract import CompressedPassage, Compression, KeptSpan, Passage
from context.errors import BadInputError
from context.forcing import Rules
from context.pieces import split_pieces
from context.relevance import weigh
from context.selection import Selected, select
from context.spans import join_passages, join_spans
from context.tokens import TokenCounter

Closeness = Callable[[str, Sequence[str]], Awaitable[Sequence[float]]]
"""Purpose and texts in, the cosine of each text with the purpose out."""


@dataclass(frozen=True, slots=True)
class CompressRequest:
    """One compression.

    Attributes:
        passages: Each keeps its id; a plain text is one passage.
        target_tokens: Tokens the result may have; None: by ``ratio``.
        ratio: Share of the tokens to keep, in (0, 1].
        purpose: What the text is needed for; empty for none.
        rules: What must survive, and where cuts may fall.
    """

    passages: tuple[Passage, ...]
    target_tokens: int | None
    ratio: float
    purpose: str
    rules: Rules


NOTHING = Compression(
    text="",
    passages=(),
    origin_tokens=0,
    compressed_tokens=0,
    ratio=1.0,
    rate=1.0,
    saving=0.0,
    dropped_pieces=0,
)
"""Of no passages."""


async def compress(
    request: CompressRequest,
    tokens: TokenCounter,
    closeness: Closeness | None,
    *,
    price_per_million_tokens: float,
) -> Compression:
    """Compress passages to a number of tokens.

    Args:
        request: What to compress, how far, and what must survive.
        tokens: Counts tokens.
        closeness: Gives the cosine of texts with a purpose; None works by words alone.
        price_per_million_tokens: For the saving, in whatever currency it is set in.

    Raises:
        BadInputError: There is nothing to compress, or the ratio is out of (0, 1].
        DoesNotFitError: What must survive is larger than the target.
    """
    texts = [passage.text for passage in request.passages]
    if not any(text.strip() for text in texts):
        raise BadInputError("there is no text to compress")
    if not 0.0 < request.ratio <= 1.0:
        raise BadInputError(f"ratio is the share to keep, in (0, 1], not {request.ratio}")
    origin = tokens.count(join_passages(texts))
    target = request.target_tokens or max(1, int(origin * request.ratio))
    if target >= origin:
        selected = Selected(tuple(((0, len(text)),) if text else () for text in texts), 0)
    else:
        pieces = split_pieces(texts, request.rules.force)
        cosines = None
        if closeness is not None and request.purpose.strip():
            cosines = await closeness(request.purpose, [piece.text for piece in pieces])
        weights = weigh(pieces, request.purpose, cosines)
        selected = select(
            texts, pieces, weights, target_tokens=target, rules=request.rules, tokens=tokens
        )
    return _report(request, selected, origin, tokens, price_per_million_tokens)


def _report(
    request: CompressRequest,
    selected: Selected,
    origin: int,
    tokens: TokenCounter,
    price: float,
) -> Compression:
    texts = [
        join_spans(passage.text, spans)
        for passage, spans in zip(request.passages, selected.spans, strict=True)
    ]
    before = tokens.count_many([passage.text for passage in request.passages])
    after = tokens.count_many(texts)
    whole = join_passages(texts)
    compressed = tokens.count(whole)
    return Compression(
        text=whole,
        passages=tuple(
            CompressedPassage(
                id=passage.id,
                text=texts[at],
                kept=tuple(KeptSpan(start=start, end=end) for start, end in selected.spans[at]),
                origin_tokens=before[at],
                compressed_tokens=after[at],
            )
            for at, passage in enumerate(request.passages)
        ),
        origin_tokens=origin,
        compressed_tokens=compressed,
        ratio=origin / compressed if compressed else 0.0,
        rate=compressed / origin,
        saving=(origin - compressed) * price / 1_000_000,
        dropped_pieces=selected.dropped,
    )
