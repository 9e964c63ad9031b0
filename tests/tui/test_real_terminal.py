"""The real program on the real model in a real terminal."""

from __future__ import annotations

import os
import sys
import termios

import pytest

from tests.terminal import Terminal

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("model")]

PROMPT = "examples/arithmetic-shopping.txt"
PANELS = ("JACOBI WINDOW", "N-GRAM POOL", "ACCEPTED TOKENS", "COMPRESSION")


def visualize(columns: int, lines: int, *more: str, stdin: int | None = None) -> Terminal:
    environment = {
        **os.environ,
        "TERM": "xterm-256color",
        "OMP_NUM_THREADS": "1",
        "LOOKAHEAD_CONFIG": "/nonexistent",
    }
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "lookahead_cli", "visualize", *more]
    return Terminal(command, columns, lines, environment, stdin)


@pytest.mark.parametrize(("columns", "lines"), [(120, 36), (80, 24)])
def test_all_four_panels_are_read_off_the_screen_and_q_leaves_the_terminal_as_it_was(columns, lines):
    terminal = visualize(columns, lines, PROMPT, "--max-new-tokens", "16", "-W", "5", "-N", "3", "-G", "5")
    screen = terminal.read_until(
        lambda text: all(said in text for said in (*PANELS, "■ length", "16 tokens in"))
    )
    assert "SmolLM2-135M-Instruct · float32 · cpu · W 5 N 3 G 5" in screen
    assert "r0" in screen
    assert "new " in screen
    assert "n-grams" in screen
    terminal.press("\x1b[D")
    terminal.read_until(lambda text: "THE PAST" in text)
    terminal.press("\x1b[F")
    terminal.read_until(lambda text: "THE PAST" not in text)
    terminal.press("?")
    terminal.read_until(lambda text: "KEYS" in text)
    terminal.press("q")
    terminal.read_until(lambda text: "KEYS" not in text)
    terminal.press("q")
    assert terminal.exit_code() == 0
    after = termios.tcgetattr(terminal.descriptor)
    assert after[3] & (termios.ECHO | termios.ICANON) == terminal.modes_before[3] & (
        termios.ECHO | termios.ICANON
    )
    assert "compression ratio S = " in terminal.text


def test_a_piped_prompt_takes_its_keys_from_the_terminal():
    reading, writing = os.pipe()
    os.write(writing, b"Two plus two is")
    os.close(writing)
    terminal = visualize(120, 36, "-", "--max-new-tokens", "400", "--paused", stdin=reading)
    os.close(reading)
    terminal.read_until(lambda text: "paused" in text)
    terminal.press(".")
    terminal.read_until(lambda text: "1 step" in text or "step 1/1" in text)
    terminal.press("q")
    assert terminal.exit_code() == 0
