"""Fixtures every suite uses."""

from __future__ import annotations

import socket

import pytest
from hypothesis import settings

from tests.small_model import small_model_url

__all__ = ["free_port", "small_model_url"]


# How long an example takes is the machine's business.
settings.register_profile("vouch", deadline=None)
settings.load_profile("vouch")


@pytest.fixture
def free_port() -> int:
    """Return a loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
