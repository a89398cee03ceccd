"""What each stage of packing let through, and what it saved."""

from __future__ import annotations

from collections.abc import Sequence

from context.contract import Stage, StageName
from context.spans import join_passages
from context.tokens import TokenCounter


class Ledger:
    """The stages of one packing, in order.

    Args:
        tokens: Counts tokens.
    """

    def __init__(self, tokens: TokenCounter) -> None:
        self._tokens = tokens
        self._ids: tuple[str, ...] = ()
        self.stages: list[Stage] = []

    def note(self, stage: StageName, passages: Sequence[tuple[str, str]], why: str = "") -> None:
        """Write down what came out of a stage.

        Args:
            stage: Its name.
            passages: Chunk id and text of each passage that came out.
            why: Why the stage did nothing; empty when it did its work.
        """
        ids = tuple(chunk_id for chunk_id, _ in passages)
        tokens = self._tokens.count(join_passages([text for _, text in passages]))
        before = self.stages[-1].tokens if self.stages else tokens
        self.stages.append(
            Stage(
                stage=stage,
                passages=len(ids),
                tokens=tokens,
                dropped=tuple(each for each in self._ids if each not in set(ids)),
                saved_tokens=max(0, before - tokens),
                note=why,
            )
        )
        self._ids = ids
