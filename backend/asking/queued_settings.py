"""Settings of questions that are answered later."""

from __future__ import annotations

from pydantic import Field

from service.broker_settings import NAME_PATTERN, BrokerSettings


class QueuedAskSettings(BrokerSettings):
    """How many questions wait, and how they are worked off."""

    broker_request_queue: str = Field(
        default="request_q",
        pattern=NAME_PATTERN,
        description="Queue of questions asked with `Prefer: respond-async`.",
    )
    broker_ingestion_queue: str = Field(
        default="ingestion_q",
        pattern=NAME_PATTERN,
        description="Queue of the ingestion; what is put aside goes to the one ending in .dead.",
    )
    queued_asks_running: int = Field(
        default=2, ge=0, le=1000, description="Queued questions answered at once; 0: none here."
    )
    queued_asks_waiting: int = Field(
        default=1000, ge=1, le=1_000_000, description="Questions queued; the rest get 503."
    )
    queued_asks_most_attempts: int = Field(
        default=5, ge=1, le=100, description="Attempts at a queued question, if 503 each time."
    )
    queued_asks_poll_seconds: float = Field(
        default=1.0, gt=0, le=60, description="How often one is looked for that came elsewhere."
    )
    queued_asks_keep_seconds: float = Field(
        default=86400.0, ge=60, description="How long it is kept why one was not answered."
    )

    @property
    def broker_queues(self) -> tuple[str, ...]:
        """Every queue there is on the broker, those of what was put aside included."""
        queues = (self.broker_ingestion_queue, self.broker_request_queue)
        return (*queues, *(f"{queue}.dead" for queue in queues))
