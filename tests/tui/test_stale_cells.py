"""Forty keys and four resizes: nothing that was drawn before stays on the screen where it should not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from lookahead_cli.trace.writer import record
from tests.terminal import Terminal
from tests.tiny import save_tiny_model
from tests.tui.runs import run_events, settings

SMALL, LARGE = (80, 24), (200, 60)
LEFT, RIGHT, UP, DOWN, HOME, END = "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B", "\x1b[H", "\x1b[F"
ESCAPE, ENTER, PAGE_DOWN, PALETTE = "\x1b", "\r", "\x1b[6~", "\x10"

# Screens that are opened in a session are closed again by it, so that its end is a state that can be named.
FIRST = (END, LEFT, "n", HOME, RIGHT, ".", "+", "-", "w", "1", "2", ESCAPE, "m", DOWN, UP, RIGHT, ",", "t")
SECOND = (DOWN, "q", "?", DOWN, PAGE_DOWN, END, ESCAPE, "/", "f", "o", "x", ENTER, "3", "4", "g", "s", "=")
THIRD = ("w", PALETTE, "h", "e", "l", "p", ESCAPE, "x", "\t", "\x1b[Z", "\x1bOQ", "0", "9", "r", "u", "v")
BACK = (ESCAPE, HOME, RIGHT, RIGHT, RIGHT)


def program(size: tuple[int, int], *arguments: str) -> Terminal:
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "OMP_NUM_THREADS": "1"}
    return Terminal([sys.executable, "-m", "lookahead_cli", *arguments], *size, environment)


def press_each(terminal: Terminal, keys: tuple[str, ...]) -> None:
    """Press keys one by one, each when the program has drawn what the one before did."""
    for key in keys:
        terminal.press(key)
        # An escape alone is a key once nothing follows it.
        terminal.read_until_quiet(0.3 if key == ESCAPE else 0.1)


@pytest.fixture(scope="module")
def trace(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("stale") / "trace.jsonl"
    for _ in record(run_events(settings()), path, lambda error: None):
        pass
    return path


def fresh_screen(trace: Path, size: tuple[int, int], keys: tuple[str, ...]) -> list[list[object]]:
    """What a program says that was started just now and sent to the same step."""
    terminal = program(size, "replay", str(trace), "--paused")
    terminal.read_until(lambda text: "paused · recorded" in text)
    press_each(terminal, keys)
    cells = terminal.cells
    terminal.press("q")
    assert terminal.exit_code() == 0
    return cells


def shows(terminal: Terminal, expected: list[list[object]]) -> bool:
    """True once the screen is as expected, cell by cell; a notice on it goes by itself."""
    terminal.read_until(lambda text: terminal.cells == expected, 30)
    return True


def test_no_cell_is_stale_after_forty_keys_and_four_resizes(trace):
    assert len({*FIRST, *SECOND, *THIRD, *BACK}) >= 40
    at_step_4 = {size: fresh_screen(trace, size, (HOME, RIGHT, RIGHT, RIGHT)) for size in (SMALL, LARGE)}
    terminal = program(SMALL, "replay", str(trace), "--paused")
    terminal.read_until(lambda text: "paused · recorded" in text)
    press_each(terminal, FIRST)
    terminal.read_until(lambda text: "TOKEN TREE" in text)
    terminal.resize(*LARGE)
    press_each(terminal, SECOND)
    press_each(terminal, BACK)
    terminal.press("w")  # The output with its marks again.
    assert shows(terminal, at_step_4[LARGE])
    terminal.resize(*SMALL)
    assert shows(terminal, at_step_4[SMALL])
    press_each(terminal, THIRD)
    terminal.resize(*LARGE)
    press_each(terminal, BACK)
    terminal.press("w")
    assert shows(terminal, at_step_4[LARGE])
    terminal.resize(*SMALL)
    assert shows(terminal, at_step_4[SMALL])
    terminal.press("q")
    assert terminal.exit_code() == 0
    assert "Traceback" not in terminal.text


def test_a_live_run_leaves_no_stale_cell_behind(tmp_path):
    folder, prompt = save_tiny_model(tmp_path / "model"), tmp_path / "prompt.txt"
    prompt.write_text("The quick brown fox jumps over the lazy dog, 漢字.", encoding="utf-8")
    run = ("visualize", str(prompt), "--model", str(folder), "--dtype", "float32", "-t", "60", "--speed", "8")
    terminal = program(SMALL, *run, "-W", "5", "-N", "4", "-G", "5")
    terminal.read_until(lambda text: "live" in text and "key " in text)
    press_each(terminal, (" ", RIGHT, LEFT, LEFT, "1", "m", "t", ESCAPE))
    terminal.resize(*LARGE)
    press_each(terminal, (ESCAPE, "2", END, " ", "w", "?", ESCAPE))
    terminal.resize(*SMALL)
    press_each(terminal, (ESCAPE, "w", END, "+", "+", "+"))
    terminal.read_until(lambda text: "■ token limit" in text)
    terminal.read_until_quiet()
    drawn = terminal.cells
    # Another size and back draws everything anew; what was there before has to be the same.
    terminal.resize(81, 25)
    terminal.read_until_quiet()
    terminal.resize(*SMALL)
    terminal.forget()
    assert shows(terminal, drawn)
    terminal.press("q")
    assert terminal.exit_code() == 0
