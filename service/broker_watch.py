"""A look at the broker from outside: whether it answers, and how full its queues are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import aio_pika
from aio_pika.exceptions import AMQPError, ChannelNotFoundEntity

from service.errors import BrokerError

_DEADLINE_SECONDS = 10.0
_DOWN = (AMQPError, ConnectionError, OSError, TimeoutError, RuntimeError)


async def ping_broker(url: str) -> None:
    """Log in and out again.

    Raises:
        BrokerError: It cannot be reached, or does not accept us.
    """
    try:
        connection = await aio_pika.connect(url, timeout=_DEADLINE_SECONDS)
    except _DOWN as error:
        raise BrokerError(f"the broker cannot be reached: {error!r}") from error
    await connection.close()


async def count_messages(url: str, queues: Sequence[str]) -> dict[str, int]:
    """Return how many messages wait in each of these queues; one that is not there yet has none.

    Raises:
        BrokerError: It cannot be reached, or does not accept us.
    """
    found = dict.fromkeys(queues, 0)
    try:
        async with await aio_pika.connect(url, timeout=_DEADLINE_SECONDS) as connection:
            for name in queues:
                # A queue that is not there closes the channel that asked for it.
                channel = await connection.channel()
                with suppress(ChannelNotFoundEntity):
                    queue = await channel.declare_queue(name, passive=True)
                    found[name] = queue.declaration_result.message_count or 0
    except _DOWN as error:
        raise BrokerError(f"the broker cannot be reached: {error!r}") from error
    return found
