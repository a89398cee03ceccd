"""Any OpenAI-compatible chat endpoint as the writer of summaries: the only file that calls it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ingestion.summaries import Summary
from retrieval.errors import InputTooLongError, ModelUnavailableError
from retrieval.remote import RemoteCaller


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Message(_Lenient):
    content: str | None = None


class _Choice(_Lenient):
    message: _Message


class _Usage(_Lenient):
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)


class _Completion(_Lenient):
    choices: list[_Choice]
    usage: _Usage | None = None


class ChatSummaryModel:
    """Writes by chat completions.

    Args:
        name: Of the model.
        caller: Posts to the endpoint, with deadline and retries.
    """

    def __init__(self, name: str, caller: RemoteCaller) -> None:
        self._name = name
        self._caller = caller

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._name

    def complete(self, prompt: str, *, answer_tokens: int) -> Summary:
        """Answer one prompt; blocks.

        Raises:
            ModelUnavailableError: It cannot be reached, is late or answers nonsense.
        """
        body: dict[str, object] = {
            "model": self._name,
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": answer_tokens,
            "temperature": 0,
        }
        try:
            read = _Completion.model_validate(self._caller.call("/chat/completions", body))
        except InputTooLongError as error:
            raise ModelUnavailableError(f"the summary model refuses the text: {error}") from error
        except ValidationError as error:
            raise ModelUnavailableError("the summary model answers no completion") from error
        text = (read.choices[0].message.content or "").strip() if read.choices else ""
        if not text:
            raise ModelUnavailableError("the summary model answers nothing")
        usage = read.usage or _Usage()
        return Summary(text, usage.prompt_tokens, usage.completion_tokens)

    def close(self) -> None:
        """Close the connections."""
        self._caller.close()
