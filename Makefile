# Everything runs in .venv at the root of the repository; nothing else needs to be installed.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint bench exact kills chat-latency parallel screen-cost pictures tour-traces snapshots clean

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or later is needed; give one with: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.installed: pyproject.toml constraints.txt | .venv/.created
	$(BIN)/pip install -q -c constraints.txt -e .
	@touch $@

.venv/.tested: pyproject.toml constraints.txt .venv/.installed
	$(BIN)/pip install -q -c constraints.txt -e '.[dev]'
	@touch $@

demo: .venv/.installed
	@$(BIN)/lookahead visualize examples/code-fibonacci.py --max-new-tokens 96

test: .venv/.tested
	$(BIN)/python -m pytest -n 2 --dist loadgroup

lint: .venv/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/.installed
	$(BIN)/lookahead bench examples --most-prompts 8 -s 7,5,7 -s 5,3,5 -t 64 --repeats 3 --against-last

exact: .venv/.tested
	$(BIN)/python -m tests.exact $(EXACT)

kills: .venv/.tested
	$(BIN)/python -m tests.kills $(KILLS)

chat-latency: .venv/.tested
	$(BIN)/python -m tests.chat_latency $(LATENCY)

parallel: .venv/.tested
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.parallel_figures $(PARALLEL)

screen-cost: .venv/.tested
	$(BIN)/python -m tests.screen_cost

pictures: .venv/.tested
	$(BIN)/lookahead visualize examples/code-fibonacci.py --max-new-tokens 64 --json > .pictures.jsonl
	$(BIN)/python -m tests.pictures .pictures.jsonl
	rm .pictures.jsonl

snapshots: .venv/.tested
	$(BIN)/python -m pytest -n 2 --dist loadgroup tests/tui/snapshots --snapshot-update

tour-traces: .venv/.tested
	$(BIN)/python -m tests.tour_traces

clean:
	rm -rf .venv .exact dist
