# The two commands to know: `make demo` and `make test`. Everything happens in .venv.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
PLUGINS := plugins/ordhc-linkages plugins/ordhc-embedding

RUST_SOURCES := $(shell find rust -name '*.rs' -o -name 'Cargo.toml') Cargo.toml $(wildcard Cargo.lock)
PYTHON_SOURCES := $(shell find python -name '*.py' -o -name '*.pyi' -o -path '*/data/*' -type f)

.DEFAULT_GOAL := help
.PHONY: help demo test check rust-test python-test lint fmt fuzz interrupts bench reproduce clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: $(STAMPS)/release ## Set everything up and cluster 100 dishes from 190,376 answers
	$(BIN)/ordhc demo --output-dir demo

test: rust-test python-test ## Set everything up and run all tests

check: lint test reproduce ## Everything: formats, lints, types, documentation, tests, the papers' numbers in little

rust-test:
	cargo test --workspace --locked

python-test: $(STAMPS)/develop
	$(BIN)/python -m pytest
	for plugin in $(PLUGINS); do (cd $$plugin && $(abspath $(BIN))/python -m pytest tests) || exit 1; done

lint: $(STAMPS)/develop
	cargo fmt --all --check
	cargo fmt --manifest-path rust/fuzz/Cargo.toml --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python .ci/house.py
	$(BIN)/mypy
	MYPYPATH=python $(BIN)/python -m mypy.stubtest ordhc._ordhc

fmt: $(STAMPS)/develop ## Format the code
	cargo fmt --all
	cargo fmt --manifest-path rust/fuzz/Cargo.toml
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Seconds for each target.
FUZZ_SECONDS ?= 60
FUZZ := cargo run --quiet --release --locked --manifest-path rust/fuzz/Cargo.toml --target-dir target/fuzz --bin loop --

# Damaged files for the readers of Python.
FUZZ_FILES ?= 1000000

fuzz: $(STAMPS)/develop ## Give every reader, learner and engine odd input (FUZZ_SECONDS each, FUZZ_FILES files)
	$(FUZZ) $(FUZZ_SECONDS)
	$(BIN)/python tests/fuzz_readers.py $(FUZZ_FILES)

interrupts: $(STAMPS)/develop ## Measure what Ctrl-C does to long calls, 100 times each (an hour)
	$(BIN)/python tests/interrupts.py --times 100

bench: $(STAMPS)/develop ## Measure beside the alternatives (minutes)
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python benches/bench_similarity.py
	$(BIN)/python benches/bench_linkage.py
	$(BIN)/python benches/bench_sparse.py
	$(BIN)/python benches/bench_methods.py
	$(BIN)/python benches/bench_vectors.py
	$(BIN)/python benches/bench_embedding.py
	$(BIN)/python benches/bench_trees.py planted select satisfied time
	$(BIN)/python benches/bench_metrics.py
	$(BIN)/python benches/bench_learning.py
	$(BIN)/python benches/bench_import.py
	cargo bench --package ordhc

reproduce: $(STAMPS)/develop ## A smoke run of the papers' tables and figures (a minute)
	cd benches && $(abspath $(BIN))/python -m reproduce --quick --output $(abspath $(VENV))/reproduction

clean: ## Remove what was built
	rm -rf target demo build dist $(VENV)
	find python plugins -name '__pycache__' -prune -exec rm -rf {} + -o -name '*.so' -exec rm -f {} +

$(STAMPS)/venv:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or later is needed: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	mkdir -p $(STAMPS)
	touch $@

# The package as a user gets it. `make test` replaces it with an editable one, and the other way round.
$(STAMPS)/release: $(STAMPS)/venv pyproject.toml README.md $(RUST_SOURCES) $(PYTHON_SOURCES)
	$(BIN)/python -m pip install --quiet '.[plot]'
	rm -f $(STAMPS)/develop
	touch $@

$(STAMPS)/develop: $(STAMPS)/venv pyproject.toml README.md $(RUST_SOURCES) $(wildcard $(PLUGINS:%=%/pyproject.toml))
	$(BIN)/python -m pip install --quiet --group test --group lint
	$(BIN)/python -m pip install --quiet --editable '.[all]'
	for plugin in $(PLUGINS); do $(BIN)/python -m pip install --quiet --editable ./$$plugin || exit 1; done
	rm -f $(STAMPS)/release
	touch $@
