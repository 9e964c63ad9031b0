"""Diagnostics are one line each and cannot steer a terminal."""

from __future__ import annotations

import pytest

from lookahead_cli.cli.console import StderrProgress, complain, without_controls
from lookahead_cli.trace.events import Progress


@pytest.mark.parametrize("control", ["\x1b[31m", "\r", "\x07", "\x9b2J", "\u202e", "\n"])
def test_control_characters_are_spelled_out(control: str) -> None:
    shown = without_controls(f"a{control}b")
    assert shown.isprintable()
    assert shown.startswith("a\\x")


def test_a_complaint_is_one_line_with_its_hint(capsys: pytest.CaptureFixture[str]) -> None:
    complain("It is broken.", "Mend it.")
    assert capsys.readouterr().err == "lookahead: It is broken. Mend it.\n"


def test_progress_away_from_a_terminal_says_each_task_once(capsys: pytest.CaptureFixture[str]) -> None:
    with StderrProgress() as report:
        for done in range(5):
            report(Progress("fetching", done, 5, "bytes"))
        report(Progress("loading\x1b[2J"))
    output = capsys.readouterr()
    assert output.err == "fetching\nloading\\x1b[2J\n"
    assert output.out == ""
