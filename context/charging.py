"""Every call of a context tool is admitted, run and charged here, whichever door it came in by."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import singledispatch
from typing import TypeVar

from context.budget import BudgetBook
from context.contract import Compression, ContextResult, Deduplication, Pack
from context.contract_memory import MemorySearch, Remembered
from context.spans import join_passages
from context.tokens import TokenCounter

ResultT = TypeVar("ResultT", bound=ContextResult)


async def charge(
    book: BudgetBook,
    account: tuple[str, str],
    tokens: TokenCounter,
    texts: Sequence[str],
    work: Callable[[], Awaitable[ResultT]],
) -> ResultT:
    """Run a call within its caller's budget and report in its result what is left.

    Args:
        book: The accounts.
        account: The caller, and the caller's run or nothing.
        tokens: Counts what goes in and comes out.
        texts: What goes in.
        work: Makes the result.

    Raises:
        BudgetSpentError: There is not enough left; nothing was done.
    """
    key, run = account
    tokens_in = tokens.count(join_passages(texts))
    book.admit(key, run, tokens_in)
    result = await work()
    tokens_out = tokens.count(join_passages(returned_texts(result)))
    budget = book.charge(key, run, tokens_in=tokens_in, tokens_out=tokens_out)
    return result.model_copy(update={"budget": budget})


@singledispatch
def returned_texts(result: ContextResult) -> Sequence[str]:  # noqa: ARG001 - results without text
    """Return the texts of a result that its caller will pay for."""
    return ()


@returned_texts.register
def _(result: Compression) -> Sequence[str]:
    return (result.text,)


@returned_texts.register
def _(result: Deduplication) -> Sequence[str]:
    return result.selected


@returned_texts.register
def _(result: Pack) -> Sequence[str]:
    return (result.text,)


@returned_texts.register
def _(result: MemorySearch) -> Sequence[str]:
    return [memory.content for memory in result.memories]


@returned_texts.register
def _(result: Remembered) -> Sequence[str]:
    return (result.memory.content,)
