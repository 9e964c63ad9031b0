"""A recording of two thousand steps opens at once, and any of its steps is shown at once."""

from __future__ import annotations

import json
import subprocess
import sys

from lookahead_cli.trace.writer import record
from tests.tui.runs import run_events, settings


def test_two_thousand_steps_open_in_a_second_and_a_half(tmp_path):
    trace = tmp_path / "long.jsonl"
    for _ in record(run_events(settings(window=15, ngram=5, guesses=15, tokens=9990)), trace, print):
        pass
    command = [sys.executable, "-m", "tests.long_trace", str(trace)]
    # Work beside it takes the processor's caches away: the best of three is what opening costs.
    runs = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(3)
    ]
    measured = min(runs, key=lambda run: run["open"])
    print(runs)
    assert measured["steps"] >= 2000
    assert measured["open"] < 1.5
    assert measured["go"] < 0.05
    assert measured["memory"] < 300
