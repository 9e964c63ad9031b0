"""The real tour in a real terminal; it needs no model."""

from __future__ import annotations

import os
import sys
import termios

import pytest

from lookahead_cli.tui.tour.lesson import STOPS
from tests.terminal import Terminal


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (120, 36)])
def test_all_stops_are_read_off_the_screen_and_q_leaves_the_terminal_as_it_was(columns, lines):
    environment = {**os.environ, "TERM": "xterm-256color", "LOOKAHEAD_CONFIG": "/nonexistent"}
    terminal = Terminal([sys.executable, "-m", "lookahead_cli", "tour"], columns, lines, environment)
    for index, stop in enumerate(STOPS, start=1):
        wanted = (f"stop {index} of {len(STOPS)}", f"►{index} {stop.name}", stop.title.split(",")[0])
        terminal.read_until(lambda text, wanted=wanted: all(said in text for said in wanted))
        terminal.press("\x1b[C")
    terminal.press("\x1b[H")
    terminal.read_until(lambda text: "stop 1 of" in text)
    terminal.press("o")
    terminal.read_until(lambda text: "COMPRESSION" in text and "Back to the tour" in text)
    terminal.resize(200, 60)
    terminal.read_until(lambda text: "JACOBI WINDOW" in text)
    terminal.press("q")
    terminal.read_until(lambda text: "LOOKAHEAD TOUR" in text)
    terminal.press("q")
    assert terminal.exit_code() == 0
    flags = termios.ECHO | termios.ICANON
    assert termios.tcgetattr(terminal.descriptor)[3] & flags == terminal.modes_before[3] & flags
