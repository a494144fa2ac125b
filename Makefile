# make tour: install, and run the main job on this machine.  make test: install, and run the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Compiling takes most of the time and uses one core, so two processes run the test files in parallel.
# With a thread of OpenBLAS for each core in both of them, its threads would wait for each other.
# The tests start hundreds of processes, each of which would take a second to translate the sources of a package
# where the shell keeps Python from writing bytecode.
PYTEST_ARGS ?= -n 2 --dist loadfile --no-loadscope-reorder
# Numba prepares colours for each message while it compiles, though it prints none unless asked to.
export NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING = 1
# pip would translate all sources with one core, and those of the packages' tests, too. As with pip, a file that
# is not for this Python is no error.
INSTALL := -m pip install --quiet --no-compile --editable
TRANSLATE := -m compileall -q -j 2 -x '/tests?/'

.PHONY: tour test test-all docs lint check-pythons clean

tour: $(VENV)/installed-tour
	$(BIN)/python examples/tour.py

test: $(VENV)/installed-dev
	$(BIN)/python -m compileall -q -j 2 hetero lbm rode sbth stablegpu tmd
	NUMBA_THREADING_LAYER_PRIORITY="omp tbb workqueue" OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 \
		$(BIN)/python -m pytest $(PYTEST_ARGS)

# All tests, those that take many seconds each (docs/developers/testing.md lists them) included.
test-all:
	$(MAKE) test PYTEST_ARGS="$(PYTEST_ARGS) --slow"

# The site in out/site. Tutorials run only if they or the packages that they use have changed.
# Warnings are errors; not with --quiet, which keeps MkDocs from counting them.
docs: $(VENV)/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@$(BIN)/python tools/site/stamp.py
	@echo "out/site/index.html"

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Install every extra on every available Python, and compile a kernel there.
check-pythons:
	tools/check_pythons.sh

$(VENV)/installed-tour: pyproject.toml | $(BIN)/python
	$(BIN)/python $(INSTALL) ".$$(tools/gpu_extra.sh)"
	-$(BIN)/python $(TRANSLATE) $(VENV)/lib
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python $(INSTALL) ".[dev]"
	-$(BIN)/python $(TRANSLATE) $(VENV)/lib
	@touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

clean:
	rm -rf $(VENV) out
