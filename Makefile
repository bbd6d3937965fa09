# Every target sets up what it needs: a fresh clone only needs Python 3.11 or newer and make.
.DEFAULT_GOAL := help
.PHONY: docs pictures chaos machines release rehearse upgrade help venv demo run tour quick test whole check bench fuzz conformance mutate bench-evidence fmt lock clean

VENV := .venv
PY   := $(VENV)/bin/python
BASE := $(VENV)/.base-installed
DEV  := $(VENV)/.dev-installed
MUTATE := $(VENV)/.mutate-installed
RELEASE := $(VENV)/.release-installed
DOCS := $(VENV)/.docs-installed
# The first interpreter that is new enough and can make a virtual environment (Debian packages venv separately). The
# distribution's own comes first: it is built with optimisations that version managers omit, and saves a fifth of the
# tests' time.
PYTHON ?= $(shell for p in /usr/bin/python3.11 python3.11 python3.12 python3.13 python3 python3.14; do \
  $$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
PIP := $(PY) -m pip --disable-pip-version-check --quiet install --require-hashes
LOCK := pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
  --custom-compile-command 'make lock'
ARGS ?=

help: ## what there is to type
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "  %-20s %s\n", $$1, $$2}'

demo: $(BASE) ## the whole product with a stand-in Slack and a story (PORT=9000 moves it, STORY=gossip plays another)
	@$(PY) -m stack demo $(ARGS)

run: $(BASE) ## the product, set by environment or .env
	@$(PY) -m stack run $(ARGS)

tour: $(DEV) ## play the story on a throw-away stack and check it from the outside
	@$(PY) -m stack tour $(ARGS)

quick: $(DEV) ## the tests that start no stack and no browser, and take no time
	@$(PY) -m stack test -m quick $(ARGS)

test: $(DEV) ## every test, with few rows of long tables; ARGS="-k retype" runs all rows of those
	@$(PY) -m stack test $(ARGS)

whole: $(DEV) ## every test with every row, step and example: before a release, or overnight
	@$(PY) -m stack test --whole $(ARGS)

check: $(DEV) $(DOCS) ## what CI runs: linters, types, arrows, templates, documentation, vulnerabilities, migrations, deployment, tests
	@$(PY) -m stack check $(ARGS)

bench: $(DEV) ## the benchmark table; ARGS="--write storm" puts one group of it into docs/benchmarks.md
	@$(PY) -m stack bench $(ARGS)

bench-evidence: $(DEV) ## what reading profiles costs, next to inferno; ARGS="--set FILE" takes another
	@$(PY) -m stack bench-evidence $(ARGS)

fmt: $(DEV) ## format code and templates
	@$(VENV)/bin/ruff format .
	@$(VENV)/bin/ruff check --fix .

venv: $(DEV) ## the virtual environment with everything pinned

lock: ## compile requirements/*.in to names, versions and hashes
	@rm -rf $(VENV)/.lock && $(or $(PYTHON),python3) -m venv $(VENV)/.lock
	@$(VENV)/.lock/bin/python -m pip --disable-pip-version-check --quiet install uv
	@cd requirements && ../$(VENV)/.lock/bin/uv $(LOCK) $(ARGS) base.in -o base.txt
	@cd requirements && ../$(VENV)/.lock/bin/uv $(LOCK) $(ARGS) -c base.txt dev.in -o dev.txt
	@cd requirements && ../$(VENV)/.lock/bin/uv $(LOCK) $(ARGS) -c dev.txt build.in -o build.txt
	@cd requirements && ../$(VENV)/.lock/bin/uv $(LOCK) $(ARGS) docs.in -o docs.txt
	@cd requirements && ../$(VENV)/.lock/bin/uv $(LOCK) $(ARGS) mutate.in -o mutate.txt
	@cd requirements && ../$(VENV)/.lock/bin/uv $(LOCK) $(ARGS) release.in -o release.txt
	@rm -rf $(VENV)/.lock

fuzz: $(DEV) ## spoil profiles and hand them to the readers; ARGS="60 pprof" for so many seconds, one format
	@$(PY) -m stack fuzz $(ARGS)

conformance: $(DEV) ## read small files of every format and hold them against other judges; ARGS="pprof" for one format
	@$(PY) -m stack conformance $(ARGS)

rehearse: $(DEV) ## back up a throw-away stack, restore it elsewhere, and compare what is there
	@$(PY) -m stack rehearse $(ARGS)

upgrade: $(DEV) ## upgrade a throw-away stack from an older commit while people act, and judge it; ARGS="--from COMMIT"
	@$(PY) -m stack upgrade $(ARGS)

chaos: $(DEV) ## break everything while people act, and judge what is left; ARGS="--minutes 10 --seed 1"
	@$(PY) -m stack chaos $(ARGS)

machines: $(DEV) ## several machines: RabbitMQ, PgBouncer, a replica, object storage; ARGS="--seconds 120 --seed 1"
	@$(PY) -m stack machines $(ARGS)

mutate: $(MUTATE) ## change the code in small ways and count what the tests notice; ARGS="incidents.visibility" names modules
	@$(PY) -m stack mutate $(ARGS)

release: $(RELEASE) ## build the wheel and the list of what is in it, install it elsewhere, and run its demo
	@$(PY) -m stack release $(ARGS)

docs: $(DOCS) ## the documentation as a site to read without a network; a warning or a dead link fails
	@$(PY) -m stack docs $(ARGS)

pictures: $(DEV) ## take the pictures of README and of docs again, in a real browser; ARGS="retype" takes one
	@$(PY) -m stack pictures $(ARGS)

clean: ## remove the virtual environment and everything that was made
	@rm -rf $(VENV) .data dist staticfiles test-results .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(PY):
	@test -n "$(PYTHON)" || { \
	  echo 'Firekind needs Python 3.11 or newer with its venv module (Debian: apt-get install python3-venv; macOS: brew install python).' >&2; \
	  exit 2; }
	@echo 'Making $(VENV) ...'
	@$(PYTHON) -m venv $(VENV)

$(BASE): requirements/base.txt | $(PY)
	@echo 'Installing pinned packages ...'
	@$(PIP) -r requirements/base.txt
	@touch $(BASE)

$(DEV): requirements/dev.txt | $(BASE)
	@echo 'Installing tools for tests and checks ...'
	@$(PIP) -r requirements/dev.txt
	@touch $(DEV)

$(MUTATE): requirements/mutate.txt | $(DEV)
	@echo 'Installing mutmut ...'
	@$(PIP) -r requirements/mutate.txt
	@touch $(MUTATE)

$(RELEASE): requirements/release.txt | $(DEV)
	@echo 'Installing what writes the list of a release ...'
	@$(PIP) -r requirements/release.txt
	@touch $(RELEASE)

$(DOCS): requirements/docs.txt | $(DEV)
	@echo 'Installing what builds the documentation ...'
	@$(PIP) -r requirements/docs.txt
	@touch $(DOCS)
