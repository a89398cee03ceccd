"""Names on a real RabbitMQ that only one test uses, and their removal."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aio_pika

from tests.services import require_port

BROKER_URL = os.environ.get("VOUCH_TEST_BROKER_URL", "amqp://guest:guest@127.0.0.1:5672/")


@dataclass(frozen=True)
class Rig:
    url: str
    exchange: str
    queue: str

    async def waiting(self, queue: str) -> int:
        """Return how many messages wait in a queue."""
        connection = await aio_pika.connect(self.url)
        async with connection:
            channel = await connection.channel()
            declared = await channel.declare_queue(queue, passive=True)
            return declared.declaration_result.message_count or 0

    async def send(self, body: bytes) -> None:
        """Put a message of any form into the queue."""
        connection = await aio_pika.connect(self.url)
        async with connection:
            channel = await connection.channel()
            exchange = await channel.get_exchange(self.exchange)
            await exchange.publish(aio_pika.Message(body), self.queue)


@asynccontextmanager
async def open_rig() -> AsyncGenerator[Rig]:
    require_port(5672, "RabbitMQ on loopback")
    name = f"vouch-test-{uuid.uuid4().hex[:10]}"
    rig = Rig(BROKER_URL, name, f"{name}-q")
    yield rig
    connection = await aio_pika.connect(BROKER_URL)
    async with connection:
        channel = await connection.channel()
        for queue in (rig.queue, f"{rig.queue}.dead"):
            await channel.queue_delete(queue)
        for exchange in (rig.exchange, f"{rig.exchange}.dead"):
            await channel.exchange_delete(exchange)
