"""RabbitMQ between the outbox and the workers; the only file that knows its client.

A message is only the name of a task. It is published with a confirm, kept in a durable quorum
queue, and acknowledged once the task's result is in the database. What cannot be read, and what
was delivered too often, goes to a queue of its own, for a person to look at.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aio_pika
from aio_pika.abc import (
    AbstractExchange,
    AbstractIncomingMessage,
    AbstractQueue,
    AbstractRobustConnection,
)
from aio_pika.exceptions import AMQPError, ChannelInvalidStateError
from aiormq.exceptions import ChannelInvalidStateError as RawChannelInvalidStateError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ingestion.errors import BrokerError
from ingestion.task_loop import Delivery
from service.logs import get_logger
from storage.errors import StorageError
from storage.job_outbox import JobOutbox
from storage.job_queue import JobQueue

_MOST_BYTES = 4096
_DEADLINE_SECONDS = 10.0
_BATCH = 100
_AGAIN_AFTER_SECONDS = 120.0
_DOWN = (AMQPError, ConnectionError, OSError, TimeoutError, RuntimeError)

_logger = get_logger(__name__)


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


class TaskMessage(BaseModel):
    """The body of a message."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    version: int = Field(default=1, ge=1, le=1)
    task_id: str = Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9:_-]+$")


def read_message(body: bytes) -> TaskMessage:
    """Return a message, checked.

    Raises:
        BrokerError: It is too long or not of this form.
    """
    if len(body) > _MOST_BYTES:
        raise BrokerError(f"a message of {len(body)} bytes is over the {_MOST_BYTES} allowed")
    try:
        return TaskMessage.model_validate_json(body)
    except ValidationError as error:
        raise BrokerError(f"not a task: {error.errors()[0]['msg']}") from error


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


class BrokerInbox:
    """Tasks from the broker.

    Args:
        broker: The connection.
        queue: Where the tasks' leases are.
        worker: Who takes them.
    """

    def __init__(self, broker: Broker, queue: JobQueue, worker: str) -> None:
        self._broker = broker
        self._queue = queue
        self._worker = worker
        self._arrived: asyncio.Queue[AbstractIncomingMessage] = asyncio.Queue()

    async def start(self) -> None:
        """Begin to receive, no more at a time than the prefetch allows."""
        await self._broker.queue.consume(self._arrived.put, timeout=_DEADLINE_SECONDS)

    async def next(self) -> Delivery:
        """Wait for a message that names a task to be done."""
        while True:
            message = await self._arrived.get()
            try:
                task = read_message(message.body)
            except BrokerError as error:
                _logger.warning("message put aside", detail=str(error))
                await _quietly(message, is_read=False)
                continue
            claim = await self._queue.claim_task(
                task.task_id, self._worker, is_redelivered=bool(message.redelivered)
            )
            if claim is not None:
                return Delivery(claim, lambda m=message: _quietly(m, is_read=True))
            await _quietly(message, is_read=True)


class Relay:
    """Gives the outbox's tasks to the broker.

    Args:
        outbox: What is to be sent.
        broker: Who takes it.
        poll_seconds: How often to look.
    """

    def __init__(self, outbox: JobOutbox, broker: Broker, *, poll_seconds: float) -> None:
        self._outbox = outbox
        self._broker = broker
        self._poll_seconds = poll_seconds

    async def run(self) -> None:
        """Send until cancelled; what the broker did not confirm is sent again."""
        while True:
            try:
                sent = await self._send()
            except (BrokerError, StorageError) as error:
                _logger.warning("tasks wait in the outbox", detail=str(error))
                sent = 0
            if sent < _BATCH:
                await asyncio.sleep(self._poll_seconds)

    async def _send(self) -> int:
        tasks = await self._outbox.unsent(limit=_BATCH, again_after_seconds=_AGAIN_AFTER_SECONDS)
        for task in tasks:
            await self._broker.publish(TaskMessage(task_id=task.id))
        if tasks:
            await self._outbox.mark_sent([task.id for task in tasks])
        return len(tasks)


async def _quietly(message: AbstractIncomingMessage, *, is_read: bool) -> None:
    """Settle a message; when its channel is gone the broker delivers it anew, which is harmless."""
    try:
        if is_read:
            await message.ack()
        else:
            await message.reject(requeue=False)
    except (ChannelInvalidStateError, RawChannelInvalidStateError, *_DOWN) as error:
        _logger.warning("message not settled", detail=repr(error))
