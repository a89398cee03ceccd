"""Signed webhooks: somebody else's word that a source has changed, and nothing more than that.

A hook names a source that is known here; where that is read from was ordered before, and nothing in
the body is looked at beyond its signature. Two forms are understood:

- ``X-Vouch-Signature: sha256=HEX`` over ``TIMESTAMP.BODY``, with ``X-Vouch-Timestamp`` in Unix
  seconds: too old or too far ahead is refused;
- ``X-Hub-Signature-256: sha256=HEX`` over the body alone, as GitHub and others send it.

Either way a delivery that comes again names the job it made the first time.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from backend.errors import BadSignatureError, UnknownSourceError
from storage.index_view import IndexView
from storage.job_orders import IngestOrder
from storage.jobs import JobRecord, JobStore

_PREFIX = "sha256="
_REQUESTER = "webhook"
_NAMESPACE = uuid.UUID("5b0c6a0e-0d3b-5a0f-9c5e-2f6a3f6d8f11")
_CHANGES = frozenset({"", "push", "release", "page_build"})


@dataclass(frozen=True, slots=True)
class HookRules:
    """How hooks are checked.

    Attributes:
        secret: Shared with who signs; empty: no hook is taken.
        window_seconds: Oldest one with a timestamp that is taken.
    """

    secret: bytes
    window_seconds: float


def check_signature(
    headers: Mapping[str, str], body: bytes, rules: HookRules, *, now: float
) -> str:
    """Return the signature of a hook, checked.

    Args:
        headers: Of the request, names in lower case.
        body: As it came.
        rules: The secret and the window.
        now: Unix time in seconds.

    Raises:
        BadSignatureError: There is none, it is wrong, or it is too old; it does not say which
            part of a wrong one is wrong.
    """
    if not rules.secret:
        raise BadSignatureError("no webhook is taken here: VOUCH_WEBHOOK_SECRET is not set")
    signed, given = body, headers.get("x-hub-signature-256", "")
    if "x-vouch-signature" in headers:
        stamp = headers.get("x-vouch-timestamp", "")
        signed, given = stamp.encode() + b"." + body, headers["x-vouch-signature"]
        if not stamp.isascii() or not stamp.isdigit():
            raise BadSignatureError("X-Vouch-Timestamp is missing or no Unix time in seconds")
        if abs(now - int(stamp)) > rules.window_seconds:
            raise BadSignatureError("the webhook is too old, or its clock is wrong")
    expected = _PREFIX + hmac.new(rules.secret, signed, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), given.strip().lower().encode()):
        raise BadSignatureError("the webhook's signature is missing or wrong")
    return expected


def is_change(headers: Mapping[str, str]) -> bool:
    """Whether a hook tells of changed documents: of GitHub's events a few do."""
    return headers.get("x-github-event", "") in _CHANGES


class Hooks:
    """Orders known sources to be read again.

    Args:
        view: Knows the sources.
        jobs: Takes the orders.
    """

    def __init__(self, view: IndexView, jobs: JobStore) -> None:
        self._view = view
        self._jobs = jobs

    async def order(self, source: str, signature: str) -> str:
        """Order a source to be read again and return the id of the job.

        Args:
            source: Its name.
            signature: Of the delivery; the same one again makes no second job.

        Raises:
            UnknownSourceError: No job ever read a source of this name.
            StorageError: The database cannot be used.
        """
        known = next((one for one in await self._view.sources() if one.name == source), None)
        if known is None:
            raise UnknownSourceError("no source of this name was ordered here before")
        order = IngestOrder.model_validate(known.request)
        job = JobRecord(
            id=str(uuid.uuid5(_NAMESPACE, f"{source}\n{signature}")),
            kind="ingest",
            request=order.model_dump(mode="json"),
            profile=known.profile,
            requester=_REQUESTER,
        )
        await self._jobs.submit_once(job)
        return job.id
