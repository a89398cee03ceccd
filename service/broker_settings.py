"""Settings of every process that talks to the broker."""

from __future__ import annotations

from pydantic import Field, SecretStr

from service.settings import ServiceSettings

NAME_PATTERN = r"^[A-Za-z0-9._-]{1,100}$"


class BrokerSettings(ServiceSettings):
    """Whether a broker stands between rows that wait and those who work them off."""

    broker_url: SecretStr = Field(
        default=SecretStr(""),
        description="RabbitMQ, as amqp://user:key@host/vhost; empty: the database is the queue.",
    )
    broker_exchange: str = Field(
        default="vouch", pattern=NAME_PATTERN, description="Exchange of the broker."
    )
    broker_redelivery_limit: int = Field(
        default=20, ge=1, le=1000, description="Redeliveries before a message is put aside."
    )
