VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := .mcp-peers

.PHONY: help setup demo test security bench lint lock clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: $(READY) ## make .venv and install skillmark with its pinned dependencies

$(READY): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "skillmark needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V). Set PYTHON=..." >&2; exit 2; }
	@sh tests/install_venv.sh $(PYTHON)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY) ## start the example marketplace, certify it, show the scores
	@$(BIN)/python examples/demo.py

test: $(READY) ## the servers that the tests start, from Debian if missing, then lint, types and all tests
	@sh tests/install_debian.sh
	@sh tests/install_mcp_peers.sh $(PYTHON) $(PEERS)
	@$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest

security: $(READY) ## try every attack on the test range: false accusations and recall, as tables
	$(BIN)/python -m tests.range

bench: $(READY) ## speed and latencies on this machine, as one table and out/bench.json
	@sh tests/install_debian.sh
	$(BIN)/python -m tests.perf.bench --out out/bench.json

lint: $(READY) ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lock: ## pin the newest versions that pyproject.toml admits
	$(BIN)/pip-compile --quiet --upgrade --extra dev --extra postgresql --strip-extras --allow-unsafe --build-deps-for wheel --build-deps-for editable \
		--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-header --output-file requirements.lock pyproject.toml

clean: ## remove what the other targets made
	rm -rf $(VENV) $(PEERS) out build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
