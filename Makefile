# Everything runs in .venv of this checkout, made on first use; an active virtual environment is ignored.
# Needs Python 3.11+, cargo 1.89+ and a C compiler. Reaches crates.io and PyPI, nothing else.

PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python

unexport VIRTUAL_ENV CONDA_PREFIX PYTHONPATH PYTHONHOME
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export PIP_QUIET := 1
export CARGO_TERM_PROGRESS_WHEN := never

PIP_INSTALL  := $(PY) -m pip install --root-user-action=ignore --no-compile  # most of it is never imported
RUST_SOURCES := $(shell find rust -type f 2>/dev/null) Cargo.toml Cargo.lock
ENGINE       := --package memspan-engine --locked
CHECKED      := --locked --quiet
# With MEMSPAN_PROOF the package is built in the profile of the engine's tests, of the same engine (decision 0105).
PROFILE      := $(if $(MEMSPAN_PROOF),dev,release)
BUILT        := $(VENV)/.built-$(PROFILE)
FUZZED       := $(patsubst fuzz/fuzz_targets/%.rs,%,$(wildcard fuzz/fuzz_targets/*.rs))
PURE         := store::msgpack store::envelope store::keys store::tree::page index::bm25::bits units::clip units::calendar units::base64

# A .venv whose Python was upgraded or removed under it is made anew.
ifneq ($(shell $(PY) -c 'import sys; print(sys.version_info >= (3, 11))' 2>/dev/null),True)
.PHONY: $(VENV)/.created
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check check-sources check-build compile test-rust test-python lint lint-rust lint-python lint-stub bench wheel docs docs-rust docs-python audit soak format build check-tools clean

help: ## print this text
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## build everything and play a real conversation through it
	@$(PY) examples/memory.py
	@$(PY) examples/conversation.py

test: test-rust test-python ## run all tests: the engine's and the package's

# With --jobs=2 the two long builds go beside each other, in a folder each, and what follows one does not wait for the other.
check: check-sources check-build ## check formats, lints, types, the stub, the documentation and the wheel

check-sources: compile ## the part that needs no package
	@$(MAKE) --no-print-directory lint-rust docs-rust lint-python

check-build: build ## the part that looks at the package
	@$(MAKE) --no-print-directory lint-stub docs-python wheel

compile: check-tools ## compile the engine's own tests
	@cargo test $(ENGINE) --quiet --no-run

test-rust: check-tools ## run the engine's own tests
	@cargo test $(ENGINE) --quiet

test-python: build $(VENV)/.group-test ## run the tests of the Python package
	@$(PY) -m pytest --numprocesses=logical --maxprocesses=4 --dist=worksteal

lint: lint-rust lint-python lint-stub ## check formats, lints, types and the typed stub

lint-rust: check-tools ## the same of Rust alone
	cargo fmt --all --check
	cargo clippy --workspace --all-targets $(CHECKED) -- -D warnings
	@# A free-threaded Python has no stable ABI before 3.15. None is needed here: pyo3 reads what one would say of itself.
	PYO3_CONFIG_FILE=$(CURDIR)/scripts/free_threaded.config cargo clippy --package memspan-python --no-default-features $(CHECKED) -- -D warnings
	@if cargo deny --version >/dev/null 2>&1; then cargo deny --offline check licenses bans sources; else echo "cargo-deny is not there: left out"; fi

lint-python: $(VENV)/.group-test $(VENV)/.group-lint ## the same of Python alone
	$(PY) -m ruff format --check --quiet .
	$(PY) -m ruff check --quiet .
	$(PY) -m mypy
	$(PY) -m basedpyright

lint-stub: build $(VENV)/.group-lint ## compare the stub with the module that was built
	$(PY) -m mypy.stubtest memspan._core --allowlist tests/stubtest_allow.txt

bench: build $(VENV)/.group-bench ## time a release build against its rivals, and print the ratios
	$(PY) -m pytest benches --timeout=0 --benchmark-columns=median,iqr,ops,rounds --benchmark-sort=name
	$(PY) benches/compare.py

wheel: build ## build the wheel into dist/, and use it in a clean environment
	@rm -rf dist build/wheel-venv
	@$(PY) -m maturin build --profile $(PROFILE) --quiet --out dist
	@$(PYTHON) -m venv build/wheel-venv
	@$(PY) scripts/check_wheel.py dist/*.whl $(CURDIR)/build/wheel-venv/bin/python

docs: docs-rust docs-python ## write the reference of both languages: build/docs and target/doc

docs-rust: check-tools ## the same of Rust alone
	@RUSTDOCFLAGS="-D warnings" cargo doc --package memspan-engine $(CHECKED) --no-deps --document-private-items
	@echo "Rust: target/doc/memspan_engine/index.html"

docs-python: build $(VENV)/.group-docs ## the same of Python alone
	@$(PY) scripts/reference.py build/docs
	@echo "Python: build/docs/index.html"

audit: build ## ask the databases of advisories about crates and wheels; needs cargo-deny, pip-audit and the network
	cargo deny check advisories
	$(PY) -m pip_audit --skip-editable

soak: build $(VENV)/.group-test ## run the long form of the crash and property tests (an hour or more)
	MEMSPAN_FLIPS=10000 MEMSPAN_FUZZ=100000 cargo test $(ENGINE) --release --quiet -- --include-ignored --skip make_it
	MEMSPAN_WRONG_CALLS=100000 $(PY) -m pytest --soak --hypothesis-profile=soak --timeout=7200
	$(PY) scripts/soak.py --minutes 10
	$(PY) scripts/soak.py --minutes 10 --encrypted
	@if cargo +nightly fuzz --version >/dev/null 2>&1; then for target in $(FUZZED); do cargo +nightly fuzz run $$target -- -seed=1 -max_total_time=300 || exit 1; done; else echo "cargo-fuzz is not there: left out"; fi
	@if cargo +nightly miri --version >/dev/null 2>&1; then MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test $(ENGINE) --lib -- $(PURE); else echo "miri is not there: left out"; fi

format: $(VENV)/.group-lint ## format Rust and Python, and apply the safe fixes
	@cargo fmt --all
	@$(PY) -m ruff check --fix --quiet . || true
	@$(PY) -m ruff format --quiet .

build: $(BUILT) ## build the engine in release mode into .venv

check-tools: ## say what is missing on this machine, and how to get it
	@sh scripts/check_tools.sh $(PYTHON)

clean: ## remove .venv and everything that was built
	@rm -rf $(VENV) build dist target python/memspan/_core*.so

$(VENV)/.created: | check-tools
	@echo "making $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP_INSTALL) --upgrade 'pip>=25.1'  # the first that reads dependency groups
	@touch $@

# One stamp for each dependency group of pyproject.toml.
$(VENV)/.group-%: $(VENV)/.created pyproject.toml
	@echo "installing what '$*' needs"
	@flock $(VENV)/.created $(PIP_INSTALL) --group $*  # one after the other, also with --jobs
	@touch $@

$(BUILT): $(VENV)/.group-build $(RUST_SOURCES) pyproject.toml
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(PY) -m maturin develop --profile $(PROFILE) --quiet --extras cli
	@rm -f $(VENV)/.built-*  # of the other profile: there is room for one
	@touch $@
