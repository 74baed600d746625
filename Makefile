# Every target sets up .venv by itself; once set up, none needs a network until pyproject.toml changes.
#   make verify ARGS="cud --budget quick"     make test ARGS="tests/model -k codec"     make PYTHON=python3.12 test
# SPDX-License-Identifier: MIT

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up
ALONE := $(VENV)/.installed
WORKERS ?= auto
ARGS ?=
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup verify test slow deep attack lint bench docs gallery schemas clean

help:    ## Show this list
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## (.*)/  make \1\t\2/' | expand -t 16

setup: $(STAMP)     ## Make .venv and install evenhand into it

verify: $(ALONE)    ## Check every claim of every protocol with every engine (the main job)
	$(BIN)/evenhand verify $(ARGS)

test: $(STAMP)      ## Run the tests, those marked `slow` and `deep` left out
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow and not deep" $(ARGS)

slow: $(STAMP)      ## Run the tests marked `slow`, as CI does after the others
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "slow and not deep" $(ARGS)

deep: $(STAMP)      ## Run the tests that take long
	$(BIN)/python -m pytest -q -n $(WORKERS) -m deep $(ARGS)

attack: $(STAMP)    ## Attack every boundary; ARGS="--seed 2 --part files --share 0.1 --json"
	$(BIN)/python -m tests.attack $(ARGS)

lint: $(STAMP)      ## Check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/mypy
	$(BIN)/pyright

bench: $(STAMP)     ## Measure every goal of speed side by side; ARGS="--only cells"
	$(BIN)/python -m benchmarks.goals $(ARGS)

docs: $(STAMP)      ## Build the documents as a site in out/site; a broken link fails
	$(BIN)/python -m typer evenhand.cli utils docs --name evenhand --title "Commands and options" \
	  --output docs/reference/commands.md
	$(BIN)/python -m evenhand.cli.pages
	$(BIN)/python -m mkdocs build

gallery: $(STAMP)   ## Draw the pictures of docs/explanation/gallery.md again
	$(BIN)/python docs/explanation/gallery/draw.py

schemas: $(STAMP)   ## Write the published JSON Schemas from the types of the files
	$(BIN)/python -m evenhand.cli.schemas

clean:   ## Remove .venv and whatever the tools left behind
	rm -rf $(VENV) build dist out .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The first of these that runs and is new enough. A venv that was moved no longer runs, so it is made anew.
PYTHONS := $(PYTHON) python3 python3.13 python3.12 python3.11 python

# Without what tests and documents need, which takes three times as long.
$(ALONE): pyproject.toml setup.py .ci/constraints.txt
	@$(BIN)/python -c '' 2>/dev/null || { \
	  for python in $(PYTHONS); do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	      echo "making $(VENV) with $$($$python --version)"; \
	      exec $$python -m venv --clear $(VENV); \
	    fi; \
	  done; \
	  echo 'no Python 3.11 or newer found among: $(PYTHONS). Install one, or name it: make PYTHON=/path/to/python …' >&2; \
	  exit 2; \
	}
	$(BIN)/python -m pip install --quiet -c .ci/constraints.txt -e .
	@touch $@

$(STAMP): $(ALONE) .ci/without-dependencies.txt
	$(BIN)/python -m pip install --quiet -c .ci/constraints.txt -e '.[dev]'
	$(BIN)/python -m pip install --quiet --no-deps -r .ci/without-dependencies.txt
	@touch $@
