# make up and make test are the two commands; each installs what it needs first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROJECTS := libs/chassis libs/contract services/authz services/extract services/gateway services/ingest services/search conformance cli
STAMP := $(VENV)/.installed
# The reference sibling on Node. Optional: without npm its tests say that they were skipped.
NODE := conformance/siblings/node
NODE_STAMP := $(NODE)/node_modules/.installed
# The fast loop's folders lie in RAM where there is a gigabyte of it: the tests sync as the services do.
# ARGS may name files that hold tests of one kind only: that the other run finds none is no failure (pytest's 5).
NONE = test $$? -eq 5
RAM = $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 1000000 { print "PYTEST_DEBUG_TEMPROOT=/dev/shm" }')

.PHONY: up test check setup node proto lint bench lock clean

up: setup            ## start memoria and its demo apps
	@exec $(BIN)/memoria up $(ARGS)

test: setup node     ## every test, slow suites included: side by side, then whole fleets and browsers one by one
	@$(BIN)/python -m pytest -n 2 -m "not fleet and not browser" $(ARGS) || $(NONE)
	@$(BIN)/python -m pytest -m "fleet or browser" $(ARGS) || $(NONE)

check: setup         ## the fast inner loop: all but fleets, browsers and what takes seconds
	@$(RAM) $(BIN)/python -m pytest -n 3 -o tmp_path_retention_policy=failed -m "not fleet and not browser and not slow" $(ARGS)

setup: $(STAMP)      ## create .venv and install into it

$(STAMP): requirements/locked.txt requirements/uv.txt $(addsuffix /pyproject.toml,$(PROJECTS))
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "memoria needs Python 3.11 or newer; this is %s" % sys.version.split()[0])'
	@echo "installing into $(VENV) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@$(BIN)/uv pip install -q --python $(BIN)/python --require-hashes -r requirements/locked.txt
	@$(BIN)/uv pip install -q --python $(BIN)/python --no-deps --no-build-isolation $(addprefix -e ,$(PROJECTS))
	@touch $@

node: $(NODE_STAMP)  ## fetch what the reference sibling on Node stands on, where npm is installed

$(NODE_STAMP): $(NODE)/package-lock.json
	@if command -v npm >/dev/null; then \
	  echo "installing into $(NODE)/node_modules …" && npm ci --prefix $(NODE) --silent --no-audit --no-fund --ignore-scripts && touch $@ \
	  || echo "npm could not fetch them: the tests of the Node sibling will be skipped"; \
	fi

proto: setup         ## lint the contract, check it against the committed image, generate
	@tools/proto.sh write

lint: setup          ## ruff, mypy, import layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports
	@$(BIN)/mypy libs/chassis/memoria_chassis libs/contract/memoria_contract services/*/memoria_* conformance/memoria_conformance cli/memoria_cli bench

bench: setup         ## benchmarks, each beside a peer in the same run
	@$(BIN)/python -m bench

lock:                ## resolve the dependencies anew
	@$(BIN)/python tools/lock.py

clean:               ## remove what make made
	rm -rf $(VENV) build $(NODE)/node_modules
