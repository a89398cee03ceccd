"""The form of a message: the name of a row, and nothing else."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from service.errors import BrokerError

_MOST_BYTES = 4096


class TaskMessage(BaseModel):
    """The body of a message: the name of a row."""

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
