# The two commands are `make demo` and `make test`; both set up what they need, in this folder only.
BIN := .venv/bin
# `make demo FOR=180` ends by itself after so many seconds; without it the demo runs until Ctrl-C.
FOR ?=
# `make demo WRONG=0.05`: a sender that breaks. Without it one event in fifty is wrong, as in real traffic.
WRONG ?=
# `make bench NAME=startup`; without a name every benchmark runs in its quick variant.
NAME ?=

.PHONY: help setup demo test browser faults bench s3 flink yarn lint lock sbom clean
.DEFAULT_GOAL := help

help: ## this list
	@echo "Penstock: a streaming lakehouse that can be rewound. Targets:"
	@sed -n 's/^\([a-z0-9]*\):.*## /  make \1\t/p' Makefile | expand -t 18

setup: ## everything the project needs, into .venv (again: no time at all)
	@python=$$(sh include/penstock/ops/setup/python.sh) && PYTHONPATH=include "$$python" -m penstock.ops.setup

demo: setup ## the whole stack with simulated traffic, live (FOR=180: ends by itself with a verdict)
	@exec $(BIN)/penstock demo $(if $(FOR),--for "$(FOR)") $(if $(WRONG),--wrong "$(WRONG)")

test: setup browser ## the test suite, one summary line at the end
	@$(BIN)/pytest --numprocesses 3 --no-loadscope-reorder

# The browser tests need Chromium; only root can install it, and only where apt is. Without it they are left out, loudly; where
# the variable CI is set they fail.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "set-up: Chromium, for the browser tests"; \
	    { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } >.venv/apt.log 2>&1 \
	      || echo "set-up: Chromium could not be installed (.venv/apt.log); the tests in a browser will not run." >&2; \
	  else echo "set-up: no Chromium here, so the tests in a browser will not run. Install it: apt-get install chromium" >&2; fi; }

# And whatever else has a longer variant, such as twenty seeds of a replay and a thousand switches under readers.
faults: setup ## the slow proofs in full: races, kills, full disks
	@PENSTOCK_FULL=1 $(BIN)/pytest tests/faults $$(grep -rl --include='test_*.py' --exclude-dir=faults PENSTOCK_FULL tests)

bench: setup ## every benchmark in its quick variant (NAME=startup: that one in full)
	@$(if $(NAME),$(BIN)/penstock bench $(NAME) --json,for name in $$($(BIN)/penstock bench list); do $(BIN)/penstock bench $$name --quick --json; done)

s3: setup ## Spark's jars for a lake on an object store (docs/deploy.md)
	@$(BIN)/python deploy/s3/fetch.py

flink: setup ## Apache Flink's jars, 142 MB: the peer of `penstock bench ingest`
	@$(BIN)/python deploy/flink/fetch.py

yarn: setup ## Hadoop YARN's jars, 88 MB: a cluster of one machine for trials (docs/deploy.md)
	@$(BIN)/python deploy/yarn/fetch.py

lint: setup ## ruff, mypy and the import contracts
	@$(BIN)/ruff check && $(BIN)/ruff format --check && $(BIN)/mypy && $(BIN)/lint-imports

lock: setup ## compiles requirements.lock anew from pyproject.toml
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --all-extras --group dev pyproject.toml -o requirements.lock

sbom: setup ## docs/sbom.cdx.json anew, from the lock and the pinned jars
	@$(BIN)/python -m penstock.ops.sbom

clean: ## removes what set-up and test runs made; the home (.penstock) stays
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis spark-warehouse

.DEFAULT:
	@echo "There is no target '$@'. These there are:" >&2; $(MAKE) --no-print-directory help >&2; exit 2
