# The two commands of the README do all the set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 3

# Compiled once and kept: else every command would compile torch and all else that it imports anew.
unexport PYTHONDONTWRITEBYTECODE

# Of several workers on the same cores, each would take them all for one product of matrices, and wait for them in a loop.
all-tests quick-tests: export OPENBLAS_NUM_THREADS = 1
all-tests quick-tests: export OMP_WAIT_POLICY = PASSIVE

.PHONY: demo test check all-tests quick-tests lint servers servers-stop lock clean

demo: $(VENV)/.train
	$(BIN)/lexgraph demo

# Everything: style, types and arrows beside all tests, with real servers and real law.
test: $(VENV)/.dev
	@$(MAKE) --no-print-directory --jobs 2 lint all-tests

# The README's own commands begin first: they take longest.
all-tests: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup tests/test_readme.py tests

# For every commit: what needs no server and no real law; style and types beside the tests.
check: $(VENV)/.dev
	@$(MAKE) --no-print-directory --jobs 2 lint quick-tests

quick-tests: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not servers and not real_law and not slow" -q

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

# Neo4j and Elasticsearch without Docker; prints the settings to use. Their programs and data lie in .servers/.
servers: $(VENV)/.dev
	@$(BIN)/python -m docker.local_servers start

servers-stop: $(VENV)/.dev
	@$(BIN)/python -m docker.local_servers stop

# The lock holds names, versions and hashes; the extras of pyproject.toml say which of them are installed.
$(VENV)/.uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Lexgraph needs Python 3.11 or later: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.5,<1'
	touch $@

# Where npm is missing, the wheel that ships one is installed too.
$(VENV)/.train: $(VENV)/.uv pyproject.toml requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint requirements.lock \
		-e '.[train$(if $(shell command -v npm),,$(comma)npm)]'
	touch $@

$(VENV)/.dev: $(VENV)/.uv pyproject.toml requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint requirements.lock -e '.[dev]'
	touch $(VENV)/.train $@

lock: $(VENV)/.uv
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --all-extras --generate-hashes \
		--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) lexgraph-data build *.egg-info

comma := ,
