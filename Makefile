# Every target sets up the environment it needs, once: a stamp inside the environment says what is
# installed, and is out of date when pyproject.toml or the pins change.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# `make lowest` needs 3.11 or 3.12 here: the oldest numpy has no wheels for later ones.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
LOWEST := .venv-lowest

# The benchmarks with figures to show, in the order they run; `benchmarks/recipes.py` takes hours and is called by itself. one that ends with 77 lacks its data and says so.
BENCHMARKS := linear reduction tables figure_one neural

.PHONY: help demo test check theory bench docs lowest clean

help: ## Say what each target does (default)
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## (.*)$$/  make \1\t\2/' | expand -t 16

demo: $(VENV)/.demo ## Train classifiers from two unlabeled sets, in about a minute
	@$(BIN)/uulearn demo

test: $(VENV)/.dev ## Run the tests and the examples in the docstrings; a warning is an error
	$(BIN)/python -m pytest

check: $(VENV)/.dev ## Everything that must hold: ruff, mypy, import-linter, tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest

theory: $(VENV)/.dev ## Run the slow statistical tests of the theorems
	$(BIN)/python -m pytest -m slow tests

bench: $(VENV)/.dev ## Run every benchmark that has figures to show
	for name in $(BENCHMARKS); do echo "benchmarks/$$name.py"; $(BIN)/python benchmarks/$$name.py || test $$? = 77; done

docs: $(VENV)/.dev ## Build the pages into docs/_build/html; a warning is an error
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

lowest: $(LOWEST)/.ready ## Run the tests with the oldest versions pyproject.toml declares
	$(LOWEST)/bin/python -m pytest --doctest-ignore-import-errors

clean: ## Remove what was built and cached; keep .venv
	rm -rf $(LOWEST) build dist docs/_build docs/generated .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find . -path './.venv*' -prune -o -name __pycache__ -prune -exec rm -rf {} +

# A fresh environment brings a pip that may be too old for dependency groups (they came with 25.1).
$(VENV)/.pip: constraints.txt
	@echo "Setting up $(VENV) (once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) --upgrade "pip>=25.1"
	@touch $@

$(VENV)/.demo: $(VENV)/.pip pyproject.toml
	@echo "Installing what the demo needs (once)"
	@$(INSTALL) -e ".[cli]"
	@touch $@

# It holds all that the demo needs, and says so.
$(VENV)/.dev: $(VENV)/.pip pyproject.toml
	@echo "Installing what the tests and checks need (once; torch is large)"
	@$(INSTALL) -e ".[cli,plot,torch]" --group dev
	@touch $(VENV)/.demo $@

# The one environment with pins of its own: the lower bounds.
$(LOWEST)/.ready: constraints-lowest.txt pyproject.toml
	@echo "Setting up $(LOWEST) (once)"
	@test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-lowest.txt \
		-e ".[cli]" pytest pandas
	@touch $@
