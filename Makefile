# `make demo` and `make test` need git, make and Python >= 3.10; they build .venv from nothing, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
# One BLAS thread a test process: two processes share two cores.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
WORKERS ?= 2

.DELETE_ON_ERROR:
.PHONY: help demo test test-oldest bytecode lint types layers pytest docs docs-check format benchmark benchopt fuzz dist clean

help:
	@echo "make demo       the paper's methods, Frank-Wolfe and the default on a 10-qubit state; table, picture in out/"
	@echo "make test       lint, types, layers, documentation and tests"
	@echo "make test-oldest  the tests with the oldest supported versions (packaging/oldest.txt)"
	@echo "make docs       the documentation as a site in out/site"
	@echo "make format     apply the formatter and the safe fixes of the linter"
	@echo "make benchmark  the quick form of every benchmark"
	@echo "make benchopt   two benchmarks beside other packages, pages in out/benchopt"
	@echo "make dist       wheel and source archive in out/dist"
	@echo "make fuzz       random trials of the promises, SECONDS=600 SEED=0"
	@echo "make clean      remove .venv, out and caches"

demo: $(VENV)/demo.stamp bytecode
	@mkdir -p out
	@$(BIN)/unipd reproduce fig1 --qubits 10 --iterations 200 --default --folder out

test: bytecode lint types layers docs-check pytest

lint: $(VENV)/dev.stamp
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .

types: $(VENV)/dev.stamp
	@$(BIN)/pyright --pythonpath $(BIN)/python

layers: $(VENV)/dev.stamp
	@$(BIN)/lint-imports

# A file of tests stays with one worker, so that its compiled kernels are made once.
pytest: $(VENV)/dev.stamp
	@$(ONE_THREAD) $(BIN)/pytest -q -n $(WORKERS) --dist loadfile

docs: $(VENV)/dev.stamp
	@$(BIN)/python docs/build.py

# Without running the gallery, whose scripts pytest runs.
docs-check: $(VENV)/dev.stamp
	@$(BIN)/python docs/build.py --quick

format: $(VENV)/dev.stamp
	@$(BIN)/ruff check --quiet --fix .
	@$(BIN)/ruff format --quiet .

benchmark: $(VENV)/dev.stamp
	@$(ONE_THREAD) $(BIN)/python benchmarks/runner.py --quick

# Copies, because benchopt writes its cache and pages beside the benchmark.
benchopt: .venv-benchopt/stamp
	@mkdir -p out/benchopt
	@for name in low_rank_sdp nuclear_completion; do \
	  cp -R benchmarks/benchopt/$$name out/benchopt/ && cd out/benchopt/$$name && rm -rf outputs && \
	  $(ONE_THREAD) ../../../.venv-benchopt/bin/benchopt run . --config quick.yml --no-display --output quick && cd ../../..; \
	done
	@.venv-benchopt/bin/python benchmarks/benchopt/inline.py out/benchopt/*/outputs/*.html

.venv-benchopt/stamp: pyproject.toml benchmarks/benchopt/requirements.txt
	@echo "Setting up .venv-benchopt (once)"
	@$(PYTHON) -m venv .venv-benchopt
	@.venv-benchopt/bin/python -m pip -qq --disable-pip-version-check install --editable ".[sdp]" -r benchmarks/benchopt/requirements.txt
	@touch $@

# The oldest versions install on Python 3.10 alone; folders that need packages beyond the extras are left out.
OLDEST ?= python3.10
test-oldest: .venv-oldest/stamp
	@$(ONE_THREAD) .venv-oldest/bin/python -m pytest -q -p no:cacheprovider -n $(WORKERS) --dist loadfile $(OLDEST_TESTS)

OLDEST_TESTS ?= $(addprefix tests/,_util apps cli couplings doctor dual io maps methods run sharp spectral trackers test_imports.py test_problem.py)
.venv-oldest/stamp: pyproject.toml packaging/oldest.txt
	@$(OLDEST) -c "" 2>/dev/null || { echo "Python 3.10 is needed: make test-oldest OLDEST=path/to/python3.10"; exit 2; }
	@echo "Setting up .venv-oldest with $(OLDEST) (once)"
	@$(OLDEST) -m venv .venv-oldest
	@.venv-oldest/bin/python -m pip -qq --disable-pip-version-check install --constraint packaging/oldest.txt \
	  --editable ".[all,cvxpy,quantum,qutip]" pytest pytest-xdist pytest-timeout hypothesis networkx pylops
	@touch $@

# The wheel is tried in an environment of its own, without extras.
dist: $(VENV)/dev.stamp
	@rm -rf out/dist out/venv
	@$(BIN)/python -m build --outdir out/dist .
	@$(PYTHON) -m venv out/venv
	@out/venv/bin/python -m pip -qq --disable-pip-version-check install out/dist/*.whl
	@cd out && $(ONE_THREAD) venv/bin/python ../packaging/check_wheel.py

# The seed of a failure is printed: `make fuzz ONLY=units CASE=123` repeats it alone.
SECONDS ?= 600
SEED ?= 0
fuzz: $(VENV)/dev.stamp
	@$(ONE_THREAD) PYTHONPATH=tests $(BIN)/python -m reliability.fuzz --seconds $(SECONDS) --seed $(SEED) \
	  $(if $(ONLY),--only $(ONLY)) $(if $(CASE),--case $(CASE))

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "unipd needs Python >= 3.10: make PYTHON=...")'
	@echo "Setting up $(VENV) (once)"
	@$(PYTHON) -m venv $(VENV)

# Changing pyproject.toml installs again; nothing else does, since the install follows the sources. Bytecode, which pip
# makes of a wheel only, halves the start of a command where Python may not write it; changed sources need theirs again.
$(VENV)/demo.stamp: pyproject.toml | $(BIN)/python
	@$(PIP) install --editable ".[all]"
	@touch $@

$(VENV)/dev.stamp: pyproject.toml | $(BIN)/python
	@$(PIP) install --editable ".[dev]"
	@touch $@ $(VENV)/demo.stamp

bytecode: | $(BIN)/python
	@$(BIN)/python -m compileall -q src

clean:
	@rm -rf $(VENV) .venv-oldest .venv-benchopt out .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +
