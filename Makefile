# Everything from a bare clone; all that is needed beforehand is Python 3.11 (or 3.12).
#   make test     format, lint, types, contracts, Django's checks, all tests; ONLY=zk,kafka for some suites of them,
#                 CHANGED=1 for what differs from main, SEED=… for a run again, FULL=1 for everything (hours)
#   make check    what of it runs no test, in half a minute
#   make demo     a simulated cluster on a real ZooKeeper, and the dashboard; Ctrl-C ends it; LAYOUT=0.7
#   make eras     every kind of action on real brokers of all five eras, and a migration to KRaft; ERA=0.8.2.2 for one of them
#   make bench    measures; ONLY=first_load SIZE=reference for one of them, ZK=3.4 on an old ZooKeeper, CHECK=1 fails where it grew slower
#   make faults   kills, stops and starves workers in full numbers (hours, resumable); ONLY=kills for a part
#   make audit    asks PyPI for known vulnerabilities of what is installed
#   make lock     writes requirements.lock anew after a change of requirements.txt; UPGRADE=1 takes newer versions of all
#   make docs     the documents as a site, in var/docs
#   make screenshots   takes the pictures of docs/screenshots anew
#   make wheel    the package to install elsewhere, in var/wheel
#   make format   formats, and mends what ruff can
#   make clean    removes what the others made

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := test
.PHONY: test check demo audit faults eras bench lock wheel docs screenshots format clean setup static java spark browser

# A run is a thousand processes: they compile modules once, not each of them all, also where the environment forbids to keep that.
export PYTHONDONTWRITEBYTECODE :=

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/requirements-$(shell cksum < requirements.lock | tr ' ' '-')
PYTHON = $(shell for python in python3.11 python3 python3.12; do \
	"$$python" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' 2> /dev/null \
	&& echo "$$python" && break; done)

test: setup static java spark browser
	@exec $(BIN)/python -m tests.run $(if $(ONLY),--only $(ONLY)) $(if $(CHANGED),--changed) \
		$(if $(SEED),--seed $(SEED)) $(if $(LANES),--lanes $(LANES)) $(if $(KEEP_GOING),--keep-going)

check: setup
	@exec $(BIN)/python -m tests.run --only check $(if $(LANES),--lanes $(LANES)) $(if $(KEEP_GOING),--keep-going)

demo: setup static java
	@exec $(BIN)/python manage.py demo $(if $(LAYOUT),--layout $(LAYOUT))

eras: setup java
	@FULL=1 $(BIN)/pytest --no-header -q tests/kafka_live/test_cells.py tests/kafka_live/to_kraft.py $(if $(ERA),-k $(ERA))

bench: setup static java spark
	@exec $(BIN)/python -m bench $(if $(ONLY),--only $(ONLY)) $(if $(SIZE),--size $(SIZE)) $(if $(ZK),--zookeeper $(ZK)) $(if $(CHECK),--check)

faults: setup static java
	@exec $(BIN)/python -m tests.faults $(if $(ONLY),--only $(ONLY))

# Strict: where a package could not be asked about, nothing is well.
audit: setup
	@$(BIN)/pip-audit --local --strict --progress-spinner off

# One lock for every platform and Python that we support; what it holds stays unless requirements.txt forbids it.
lock: setup
	@$(BIN)/uv pip compile --quiet $(if $(UPGRADE),--upgrade) --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make lock" --output-file requirements.lock requirements.txt

wheel: setup static
	@$(BIN)/python -m hatchling build --target wheel --directory var/wheel

docs: setup
	@$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env docs var/docs
	@echo "var/docs/index.html"

screenshots: setup static java browser
	@DJANGO_SETTINGS_MODULE=zkdash.settings $(BIN)/python -m tests.screenshots

format: setup
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) var .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

setup: $(STAMP)

$(STAMP):
	@test -n "$(PYTHON)" || { echo "zkdash needs Python 3.11 or 3.12 with venv, for example: apt-get install python3.11-venv" >&2; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON), once for this requirements.lock: a minute"
	@$(PYTHON) -m venv $(VENV)
	@sed -n '/^uv==/,/# via/p' requirements.lock > $(VENV)/uv.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $(VENV)/uv.lock
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip sync --quiet --require-hashes requirements.lock
	@rm -f $(VENV)/requirements-*
	@touch $@

static: setup
	@$(BIN)/python manage.py collectstatic --no-input --verbosity 0

java: setup
	@$(BIN)/python -m zkdash.java > /dev/null

spark: setup java
	@$(BIN)/python -m zkdash.pipeline.spark.archiving > /dev/null

browser: setup
	@$(BIN)/python -m tests.chromium
