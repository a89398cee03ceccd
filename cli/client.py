"""Calls to a running API, with its problem documents turned into errors a person can read."""

from __future__ import annotations

from pathlib import Path

import httpx
from pydantic import JsonValue, TypeAdapter, ValidationError

from cli.settings import UpSettings, gather_environment, read_settings
from service.errors import VouchError

_CONNECT_SECONDS = 3.0
_ANSWER_SECONDS = 90.0
_OBJECT = TypeAdapter(dict[str, JsonValue])


class ApiRefusedError(VouchError):
    """The API answered with a problem document; carries its code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def default_url() -> str:
    """Return the address ``vouch up`` serves on with the present settings."""
    settings = read_settings(UpSettings, gather_environment(Path(".env")))
    return f"http://{settings.host}:{settings.port}"


def post(url: str, path: str, body: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Post JSON and return the JSON object that comes back.

    Raises:
        ApiRefusedError: The API answered with an error status, or with something else than JSON.
        httpx.HTTPError: Nothing answers at the address.
    """
    return _checked(httpx.post(f"{url}{path}", json=body, timeout=_timeout(), trust_env=False), url)


def get(url: str, path: str) -> dict[str, JsonValue]:
    """Get a JSON object.

    Raises:
        ApiRefusedError: The API answered with an error status, or with something else than JSON.
        httpx.HTTPError: Nothing answers at the address.
    """
    return _checked(httpx.get(f"{url}{path}", timeout=_timeout(), trust_env=False), url)


def _timeout() -> httpx.Timeout:
    return httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)


def _checked(response: httpx.Response, url: str) -> dict[str, JsonValue]:
    try:
        body = _OBJECT.validate_json(response.content)
    except ValidationError as error:
        raise ApiRefusedError("not_vouch", f"what answers at {url} is not Vouch") from error
    if response.is_error:
        detail = str(body.get("detail") or body.get("title") or response.reason_phrase)
        raise ApiRefusedError(str(body.get("code", response.status_code)), detail)
    return body
