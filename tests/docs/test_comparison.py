"""Each tick of ours in the comparison with other chats has a test, and the README says the same."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
OTHERS = 7
_TEST = re.compile(r"`(tests/[\w/]+\.py::\w+)`")


def rows_of(document):
    """The rows of the table of chats: what they do, and the cells behind it."""
    lines = (ROOT / document).read_text(encoding="utf-8").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("| | lookahead |"))
    rows = {}
    for line in lines[at + 2 :]:
        if not line.startswith("|"):
            break
        feature, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        rows[feature] = cells
    return rows


def test_each_tick_of_ours_has_a_test_that_is_collected():
    rows = rows_of("docs/comparison.md")
    named = {feature: _TEST.findall(cells[-1]) for feature, cells in rows.items() if cells[0] == "✓"}
    assert len(named) > 20
    assert all(named.values())
    tests = sorted({test for found in named.values() for test in found})
    files = sorted({test.partition("::")[0] for test in tests})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    collected = {line.partition("[")[0] for line in done.stdout.splitlines()}
    assert [test for test in tests if test not in collected] == []


def test_each_mark_is_one_of_three_and_the_short_table_has_the_same():
    rows = rows_of("docs/comparison.md")
    assert all(len(cells) == 1 + OTHERS + 1 for cells in rows.values())
    assert {mark for cells in rows.values() for mark in cells[:-1]} == {"✓", "–", "?"}
    short = rows_of("README.md")
    assert len(short) >= 5
    assert short == {feature: rows[feature][:-1] for feature in short}
