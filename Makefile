# make demo     install what is needed, run 1,000 random dockings, write their report to out/
# make test     everything that is checked before a change goes in
# PYTHON=…      the interpreter to make .venv with (3.11 or newer)

PYTHONS := python3 python3.14 python3.13 python3.12 python3.11
PYTHON ?= $(firstword $(foreach p,$(PYTHONS),$(shell $(p) -c \
	'import sys; sys.version_info >= (3, 11) and print("$(p)")' 2>/dev/null)) python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check install

.DEFAULT_GOAL := help
.PHONY: help demo test test-all bench lint format clean

help:
	@echo "make demo      1,000 random dockings and their report, in out/"
	@echo "make test      lint and tests (a few minutes)"
	@echo "make test-all  the long studies too"
	@echo "make bench     how fast, against whom; rewrites the table in README.md"
	@echo "make lint      ruff, pyright, import contracts     make format  let ruff write"
	@echo "make clean     remove what was made, except .venv"

demo: .venv/plot.stamp
	@$(BIN)/linkwork demo --out out

test: lint
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not slow"

test-all: lint
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile

bench: .venv/test.stamp
	@$(BIN)/python -m bench.run --readme

lint: .venv/test.stamp
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright
	@$(BIN)/lint-imports --no-logo

format: .venv/test.stamp
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

clean:
	rm -rf out build dist *.egg-info .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

.venv/made.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "linkwork needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) -V 2>&1 || true)."; \
		echo "Install one, or name it: make demo PYTHON=/path/to/python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
		echo "$(PYTHON) cannot make virtual environments."; \
		echo "Install its venv package (Debian, Ubuntu: apt install python3-venv)."; exit 1; }
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/plot.stamp: .venv/made.stamp pyproject.toml
	@[ -e .venv/test.stamp ] || echo "installing linkwork and what it needs into .venv (once) …"
	@$(PIP) -e '.[plot]'
	@touch $@

.venv/test.stamp: .venv/made.stamp pyproject.toml
	@echo "installing linkwork with the tools and peers of its tests into .venv (once) …"
	@$(PIP) -e '.[test]'
	@touch $@ .venv/plot.stamp
