"""RabbitMQ between rows that wait and those who work them off; the only file that knows its client.

A message is only the name of a row: a task of a job, or a question. It is published with a confirm,
kept in a durable quorum queue, and acknowledged once the row's result is in the database. What
cannot be read, and what was delivered too often, goes to a queue of its own, for a person to see.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import aio_pika
from aio_pika.abc import (
    AbstractExchange,
    AbstractIncomingMessage,
    AbstractQueue,
    AbstractRobustConnection,
)
from aio_pika.exceptions import AMQPError, ChannelInvalidStateError
from aiormq.exceptions import ChannelInvalidStateError as RawChannelInvalidStateError

from service.broker_message import TaskMessage, read_message
from service.ending import end_tasks
from service.errors import BrokerError, VouchError
from service.inbox import Delivery, pause
from service.logs import get_logger

_DEADLINE_SECONDS = 10.0
_BATCH = 100
_AGAIN_AFTER_SECONDS = 120.0
_DOWN = (AMQPError, ConnectionError, OSError, TimeoutError, RuntimeError)

_logger = get_logger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BrokerNames:
    """What is declared on the broker.

    Attributes:
        redelivery_limit: Deliveries of one message before it is put aside.
    """

    exchange: str
    queue: str
    redelivery_limit: int

    @property
    def dead_exchange(self) -> str:
        """Where messages go that are put aside."""
        return f"{self.exchange}.dead"

    @property
    def dead_queue(self) -> str:
        """Where they wait for a person."""
        return f"{self.queue}.dead"


class Broker:
    """One connection with the exchange and its queues.

    Args:
        connection: Heals by itself.
        exchange: Where tasks are published.
        queue: Where they wait.
    """

    def __init__(
        self,
        connection: AbstractRobustConnection,
        exchange: AbstractExchange,
        queue: AbstractQueue,
    ) -> None:
        self._connection = connection
        self._exchange = exchange
        self.queue = queue

    async def publish(self, message: TaskMessage) -> None:
        """Hand a message over; the broker has it durably when this returns.

        Raises:
            BrokerError: It did not confirm.
        """
        try:
            await self._exchange.publish(
                aio_pika.Message(
                    message.model_dump_json().encode(),
                    content_type="application/json",
                    delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
                    message_id=message.task_id,
                ),
                routing_key=self.queue.name,
                mandatory=True,
                timeout=_DEADLINE_SECONDS,
            )
        except _DOWN as error:
            raise BrokerError(f"the broker did not take a task: {error!r}") from error

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()


@asynccontextmanager
async def open_broker(url: str, names: BrokerNames, *, prefetch: int) -> AsyncGenerator[Broker]:
    """Connect and declare what is needed; declaring it again changes nothing.

    Raises:
        BrokerError: It cannot be reached, or has queues of the same names declared otherwise.
    """
    try:
        connection = await aio_pika.connect_robust(url, timeout=_DEADLINE_SECONDS)
    except _DOWN as error:
        raise BrokerError(f"the broker cannot be reached: {error!r}") from error
    try:
        try:
            broker = await _declare(connection, names, prefetch)
        except _DOWN as error:
            raise BrokerError(f"the broker refuses its queues: {error!r}") from error
        yield broker
    finally:
        await connection.close()


async def _declare(
    connection: AbstractRobustConnection, names: BrokerNames, prefetch: int
) -> Broker:
    channel = await connection.channel(publisher_confirms=True, on_return_raises=True)
    await channel.set_qos(prefetch_count=prefetch)
    dead = await channel.declare_exchange(
        names.dead_exchange, aio_pika.ExchangeType.DIRECT, durable=True
    )
    aside = await channel.declare_queue(
        names.dead_queue, durable=True, arguments={"x-queue-type": "quorum"}
    )
    await aside.bind(dead, routing_key=names.queue)
    exchange = await channel.declare_exchange(
        names.exchange, aio_pika.ExchangeType.DIRECT, durable=True
    )
    queue = await channel.declare_queue(
        names.queue,
        durable=True,
        arguments={
            "x-queue-type": "quorum",
            "x-delivery-limit": names.redelivery_limit,
            "x-dead-letter-exchange": names.dead_exchange,
            "x-dead-letter-routing-key": names.queue,
        },
    )
    await queue.bind(exchange, routing_key=names.queue)
    return Broker(connection, exchange, queue)


class BrokerInbox(Generic[T]):
    """Items from the broker.

    Args:
        broker: The connection.
        claim: Takes the row a message names; None when there is nothing to do about it. Its
            second argument says that the message was given to somebody who is gone.
    """

    def __init__(self, broker: Broker, claim: Callable[[str, bool], Awaitable[T | None]]) -> None:
        self._broker = broker
        self._claim = claim
        self._arrived: asyncio.Queue[AbstractIncomingMessage] = asyncio.Queue()

    async def start(self) -> None:
        """Begin to receive, no more at a time than the prefetch allows."""
        await self._broker.queue.consume(self._arrived.put, timeout=_DEADLINE_SECONDS)

    async def next(self) -> Delivery[T]:
        """Wait for a message that names something to be done."""
        while True:
            message = await self._arrived.get()
            try:
                task = read_message(message.body)
            except BrokerError as error:
                _logger.warning("message put aside", detail=str(error))
                await _quietly(message, is_read=False)
                continue
            claim = await self._claim(task.task_id, bool(message.redelivered))
            if claim is not None:
                return Delivery(claim, lambda m=message: _quietly(m, is_read=True))
            await _quietly(message, is_read=True)


class Outbox(Protocol):
    """Rows that the broker should have; every method may raise a ``VouchError``."""

    async def unsent(self, *, limit: int, again_after_seconds: float) -> Sequence[str]:
        """Return names of due rows that the broker does not have, or seems to have lost."""
        ...

    async def mark_sent(self, task_ids: Sequence[str]) -> None:
        """Note that the broker has confirmed these."""
        ...


class Relay:
    """Gives the outbox's rows to the broker.

    Args:
        outbox: What is to be sent.
        broker: Who takes it.
        poll_seconds: How often to look.
        woken: Set by whoever adds a row in this process, so that it is sent at once.
    """

    def __init__(
        self,
        outbox: Outbox,
        broker: Broker,
        *,
        poll_seconds: float,
        woken: asyncio.Event | None = None,
    ) -> None:
        self._outbox = outbox
        self._broker = broker
        self._poll_seconds = poll_seconds
        self._woken = woken or asyncio.Event()

    async def run(self) -> None:
        """Send until cancelled; what the broker did not confirm is sent again."""
        while True:
            self._woken.clear()
            try:
                sent = await self._send()
            except VouchError as error:
                _logger.warning("rows wait in the outbox", detail=str(error))
                sent = 0
            if sent < _BATCH:
                await pause(self._woken, self._poll_seconds)

    async def _send(self) -> int:
        names = await self._outbox.unsent(limit=_BATCH, again_after_seconds=_AGAIN_AFTER_SECONDS)
        for name in names:
            await self._broker.publish(TaskMessage(task_id=name))
        if names:
            await self._outbox.mark_sent(names)
        return len(names)


@asynccontextmanager
async def receive(
    broker: Broker,
    claim: Callable[[str, bool], Awaitable[T | None]],
    outbox: Outbox,
    *,
    poll_seconds: float,
    woken: asyncio.Event | None = None,
) -> AsyncGenerator[BrokerInbox[T]]:
    """Receive messages, and send the outbox's rows, during the block.

    Args:
        broker: The connection.
        claim: As for ``BrokerInbox``.
        outbox: What is sent.
        poll_seconds: How often the outbox is looked at.
        woken: As for ``Relay``.
    """
    inbox = BrokerInbox(broker, claim)
    await inbox.start()
    sending = asyncio.create_task(
        Relay(outbox, broker, poll_seconds=poll_seconds, woken=woken).run()
    )
    try:
        yield inbox
    finally:
        await end_tasks(sending)


async def _quietly(message: AbstractIncomingMessage, *, is_read: bool) -> None:
    """Settle a message; when its channel is gone the broker delivers it anew, which is harmless."""
    try:
        if is_read:
            await message.ack()
        else:
            await message.reject(requeue=False)
    except (ChannelInvalidStateError, RawChannelInvalidStateError, *_DOWN) as error:
        _logger.warning("message not settled", detail=repr(error))
