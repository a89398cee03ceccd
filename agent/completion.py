"""Reads a chat completion, trusting nothing: servers differ in more than they document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeAlias, cast

from pydantic import JsonValue

from agent.chat import ChatReply, Message, ModelCall, estimate_tokens
from agent.contract import TokenUsage
from agent.errors import ModelGarbageError

_Object: TypeAlias = dict[str, JsonValue]


def read_completion(body: object, messages: Sequence[Message]) -> ChatReply:
    """Return what a completion says.

    Args:
        body: The completion as plain JSON.
        messages: What was sent, to estimate the tokens when the server does not count them.

    Raises:
        ModelGarbageError: There is no choice with a message in it.
    """
    choices = _object(body).get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = _object(first).get("message")
    if not isinstance(message, dict):
        raise ModelGarbageError("the model endpoint answers without a choice")
    text = _text(message.get("content"))
    usage = _usage(_object(_object(body).get("usage"))) or _estimate(messages, text)
    return ChatReply(text, _calls(message.get("tool_calls")), usage)


def _text(content: JsonValue) -> str:
    """Return the text of a message; some servers send it in parts."""
    if isinstance(content, list):
        return "".join(str(_object(part).get("text") or "") for part in content)
    return str(content or "")


def _calls(tool_calls: JsonValue) -> tuple[ModelCall, ...]:
    """Return the function calls of a message; some servers send the arguments as an object."""
    calls: list[ModelCall] = []
    for place, each in enumerate(tool_calls if isinstance(tool_calls, list) else ()):
        call = _object(each)
        function = _object(call.get("function"))
        if not function.get("name"):
            continue
        given = function.get("arguments")
        arguments = given if isinstance(given, str) else json.dumps(given or {})
        call_id = str(call.get("id") or f"call_{place}")
        calls.append(ModelCall(call_id, str(function["name"]), arguments))
    return tuple(calls)


def _usage(usage: _Object) -> TokenUsage | None:
    """Return the server's count, or None where it gives none."""
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    counted = [int(each) for each in (prompt, completion) if isinstance(each, int)]
    return TokenUsage(*counted) if len(counted) == 2 and any(counted) else None  # noqa: PLR2004


def _estimate(messages: Sequence[Message], text: str) -> TokenUsage:
    prompt = sum(len(str(message.get("content") or "")) for message in messages)
    return TokenUsage(estimate_tokens(prompt), estimate_tokens(len(text)))


def _object(value: object) -> _Object:
    return cast("_Object", value) if isinstance(value, dict) else {}
