# The two commands to know: `make demo` and `make test`. Everything happens in .venv.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
PLUGINS := plugins/ordhc-linkages plugins/ordhc-embedding plugins/ordhc-judge plugins/ordhc-collect
# Those that have tests marked slow.
SLOW_PLUGINS := plugins/ordhc-judge plugins/ordhc-collect

# A room is a folder of tests, named as the room of the package that it tests.
ROOMS := $(sort $(notdir $(patsubst %/,%,$(dir $(wildcard tests/*/test_*.py)))))
UNKNOWN_ROOMS := $(filter-out $(ROOMS),$(ROOM))
ifneq ($(UNKNOWN_ROOMS),)
$(error there is no room $(UNKNOWN_ROOMS); ROOM must be one of: $(ROOMS))
endif
# Modules of the crate that do the work of a room, where they do not have the room's name.
MODULES_agglomerate := agglomerate linkage
MODULES_asking := learn search
MODULES_clustering := posterior preference refine vectors
MODULES_evaluate := bootstrap
MODULES_metrics := metric
MODULES_similarities := similarity
MODULES := $(foreach room,$(ROOM),$(or $(MODULES_$(room)),$(notdir $(wildcard rust/ordhc/src/$(room)))))
# Tests of the rooms, and the modules whose docstrings have examples.
IN_ROOMS := $(foreach room,$(ROOM),tests/$(room) $(wildcard $(addprefix python/ordhc/,$(room) $(room).py _$(room))))

RUST_SOURCES := $(shell find rust -name '*.rs' -o -name 'Cargo.toml') Cargo.toml $(wildcard Cargo.lock)

.DEFAULT_GOAL := help
.PHONY: help demo test check rust-test unit-test engine-test python-test slow-test lint docs api man digests fmt fuzz interrupts bench reproduce test-oldest release-check clean

# What is going on, and about how long it takes on two cores.
say = @printf '\n== %s\n' "$(1)"

help: ## List the targets
	@echo "Times are those of two cores."
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'
	@echo "Rooms: $(ROOMS)."

demo: $(STAMPS)/package ## Set everything up (three to five minutes, once) and cluster 100 dishes from 190,376 answers
	$(call say,Clustering 100 dishes: a few seconds)
	$(BIN)/ordhc demo --output-dir demo

# The compiler's front end uses one core, so the unit tests are compiled while the Python tests run.
test: ## Set everything up and run the tests (ten to twenty minutes; four less after `make demo`); ROOM=io: one room's
ifeq ($(strip $(ROOM)),)
	$(MAKE) --jobs=2 unit-test python-test engine-test
else
	$(MAKE) python-test $(if $(MODULES),unit-test)
endif

# With TESTED=1 what `make test` has just run is not run again.
check: lint $(if $(TESTED),,test) slow-test digests docs reproduce ## Everything: formats, lints, types, tests, results, the site, the papers' numbers in little (half an hour)

rust-test: unit-test engine-test

# Unit tests check what debugging builds check. The first build is a fifth faster without data for the next one.
unit-test: export CARGO_INCREMENTAL ?= $(if $(wildcard target/debug),1,0)
unit-test:
	$(call say,Compiling and running the engine's unit tests$(if $(MODULES), of $(MODULES)): two minutes)
	cargo test --quiet --locked --package ordhc --lib $(if $(MODULES),-- $(MODULES:%=%::))

# These use the engine as `make demo` has compiled it: with the bindings named, features of dependencies are the same.
# rustdoc does not understand the jobserver of make.
engine-test: $(STAMPS)/package
	$(call say,Compiling and running the engine's other tests and examples: half a minute)
	cargo test --quiet --locked --package ordhc --package ordhc-python --release --test '*' --examples
	MAKEFLAGS= cargo test --quiet --locked --package ordhc --package ordhc-python --release --doc

# Processes that run tests side by side.
WORKERS ?= auto

# Tests start many processes: where bytecode is not kept, each compiles the package again.
unexport PYTHONDONTWRITEBYTECODE

python-test: $(STAMPS)/tests
ifeq ($(strip $(ROOM)),)
	$(call say,Running the Python tests: about eight minutes with those of the plugins)
else
	$(call say,Running the Python tests of $(ROOM))
endif
	$(BIN)/python -m pytest --numprocesses $(WORKERS) -m 'not slow' $(IN_ROOMS)
	for plugin in $(if $(strip $(ROOM)),,$(PLUGINS)); do (cd $$plugin && $(abspath $(BIN))/python -m pytest --numprocesses $(WORKERS) -m 'not slow') || exit 1; done

slow-test: $(STAMPS)/tests ## Run the tests that take long: kills, simulations, other processes (three minutes)
	$(call say,Running the slow Python tests: about three minutes)
	$(BIN)/python -m pytest tests --numprocesses $(WORKERS) -m slow
	for plugin in $(SLOW_PLUGINS); do (cd $$plugin && $(abspath $(BIN))/python -m pytest tests --numprocesses $(WORKERS) -m slow) || exit 1; done

lint: $(STAMPS)/lint ## Formats, lints, types and documentation (three minutes; one the next time)
	$(call say,Formats and lints; types and documentation: up to three minutes)
	cargo fmt --all --check
	cargo fmt --manifest-path rust/fuzz/Cargo.toml --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
	cargo check --quiet --package ordhc --no-default-features --locked
	$(BIN)/python .ci/public_api.py
	$(BIN)/python .ci/words.py
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python .ci/house.py
	$(BIN)/python .ci/man_page.py
	$(BIN)/mypy
	MYPYPATH=python $(BIN)/python -m mypy.stubtest ordhc._ordhc

SITE := docs/_build/html

# Pages of names are written anew, so that none is left of a name that has gone.
docs: $(STAMPS)/docs ## The site, with examples run and links checked: docs/_build/html (two minutes; one the next time)
	$(call say,Building the site in $(SITE): up to two minutes)
	rm -rf docs/reference/api
	$(BIN)/sphinx-build -W --keep-going --quiet -b html -d docs/_build/doctrees docs $(SITE)
	RUSTDOCFLAGS="-D warnings" cargo doc --package ordhc --no-deps --locked --target-dir target/docs
	rm -rf $(SITE)/rust
	cp -R target/docs/doc $(SITE)/rust
	$(BIN)/python .ci/site.py $(SITE)

api: $(STAMPS)/lint ## Write the listing of the crate's public API anew
	cargo doc --package ordhc --no-deps --locked
	$(BIN)/python .ci/public_api.py --write

fmt: $(STAMPS)/lint ## Format the code
	cargo fmt --all
	cargo fmt --manifest-path rust/fuzz/Cargo.toml
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Seconds for each target.
FUZZ_SECONDS ?= 60
FUZZ := cargo run --quiet --release --locked --manifest-path rust/fuzz/Cargo.toml --target-dir target/fuzz --bin loop --

# Damaged files for the readers of Python.
FUZZ_FILES ?= 1000000

fuzz: $(STAMPS)/tests ## Give every reader, learner and engine odd input (FUZZ_SECONDS each, FUZZ_FILES files)
	$(FUZZ) $(FUZZ_SECONDS)
	$(BIN)/python tests/fuzz_readers.py $(FUZZ_FILES)

interrupts: $(STAMPS)/tests ## Measure what Ctrl-C does to long calls, 100 times each (an hour)
	$(BIN)/python tests/interrupts.py --times 100

# A change of results is a commit of its own, with WRITE=1, that says which results change and why.
digests: $(STAMPS)/tests ## Compare results with benches/digests.txt (two minutes); WRITE=1 writes it anew
	$(call say,Comparing digests of results: about two minutes)
	cd benches && $(abspath $(BIN))/python -m digests $(if $(WRITE),--write)

bench: $(STAMPS)/tests ## Measure beside the alternatives (half an hour)
	$(PIP) --group bench
	$(BIN)/python benches/bench_similarity.py
	$(BIN)/python benches/bench_linkage.py
	$(BIN)/python benches/bench_sparse.py
	$(BIN)/python benches/bench_methods.py
	$(BIN)/python benches/bench_vectors.py
	$(BIN)/python benches/bench_neighbors.py quality
	$(BIN)/python benches/bench_embedding.py
	$(BIN)/python benches/bench_trees.py planted select satisfied time
	$(BIN)/python benches/bench_metrics.py
	$(BIN)/python benches/bench_learning.py
	$(BIN)/python benches/bench_reading.py
	$(BIN)/python benches/bench_import.py
	cargo bench --package ordhc-bench

reproduce: $(STAMPS)/tests ## A smoke run of the papers' tables and figures (a minute)
	cd benches && $(abspath $(BIN))/python -m reproduce --quick --output $(abspath $(VENV))/reproduction

man: $(STAMPS)/package ## Write the man page anew, from the commands' own help
	$(BIN)/python .ci/man_page.py --write

# An environment of its own, with the oldest of all that is needed.
OLDEST := $(VENV)/oldest
OLDEST_EXTRAS := plot parquet sklearn vectors trees frames
OLDEST_TESTS ?= cli comparisons dendrogram errors estimator io linkage learning metrics newick plan plotting posterior \
	public_names registry select session similarity sparse threads trees vectors

test-oldest: $(STAMPS)/package ## Test with the oldest NumPy and the rest that pyproject.toml allows (three minutes)
	$(call say,The oldest versions in $(OLDEST): a minute)
	$(PYTHON) -m venv --clear $(OLDEST)
	$(BIN)/python .ci/oldest.py $(OLDEST_EXTRAS) > $(OLDEST)/oldest.txt
	$(OLDEST)/bin/python -m pip install --quiet --only-binary :all: --requirement $(OLDEST)/oldest.txt pytest hypothesis
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir $(OLDEST) .
	$(OLDEST)/bin/python -m pip install --quiet --no-deps $(OLDEST)/ordhc-*.whl
	$(OLDEST)/bin/python -m pip check
	# What is old says of what is new that it is deprecated.
	$(OLDEST)/bin/python -m pytest -q -p no:cacheprovider -W ignore::DeprecationWarning $(wildcard $(OLDEST_TESTS:%=tests/*/test_%.py))

release-check: $(STAMPS)/release ## All that a release needs and one machine can check; what can't be is named (a quarter of an hour)
	$(BIN)/python .ci/release_check.py

clean: ## Remove what was built
	rm -rf target demo build dist docs/_build docs/gallery docs/tutorials/pages docs/reference/api docs/reference/commands $(VENV)
	find python plugins -name '__pycache__' -prune -exec rm -rf {} + -o -name '*.so' -exec rm -f {} +

PIP := $(BIN)/python -m pip install --quiet
# With the build tools that are there already.
BUILD := PATH="$(abspath $(BIN)):$$PATH" $(PIP) --no-build-isolation

$(STAMPS)/venv:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or later is needed: make PYTHON=python3.11 ...")'
	$(call say,A virtual environment in $(VENV))
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade 'pip>=25.1'
	$(PIP) --group build
	mkdir -p $(STAMPS)
	touch $@

# Python files are used as they are, so only what is compiled is ever out of date.
$(STAMPS)/package: $(STAMPS)/venv pyproject.toml README.md $(RUST_SOURCES)
	$(call say,Downloading what the package needs and compiling the engine: three to five minutes)
	$(BUILD) --editable '.[plot]'
	touch $@

$(STAMPS)/tests: $(STAMPS)/package $(wildcard $(PLUGINS:%=%/pyproject.toml))
	$(call say,Downloading what the tests need: half a minute)
	$(PIP) --group test
	for plugin in $(PLUGINS); do $(BUILD) --editable ./$$plugin || exit 1; done
	touch $@

$(STAMPS)/lint: $(STAMPS)/tests
	$(call say,Downloading what the checks need)
	$(PIP) --group lint
	touch $@

$(STAMPS)/release: $(STAMPS)/lint
	$(call say,Downloading what checks a release)
	$(PIP) --group release
	touch $@

$(STAMPS)/docs: $(STAMPS)/tests
	$(call say,Downloading what the site needs: half a minute)
	$(PIP) --group docs
	touch $@
