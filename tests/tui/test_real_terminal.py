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


def lookahead(columns: int, lines: int, *arguments: str, stdin: int | None = None) -> Terminal:
    environment = {
        **os.environ,
        "TERM": "xterm-256color",
        "OMP_NUM_THREADS": "1",
        "LOOKAHEAD_CONFIG": "/nonexistent",
    }
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "lookahead_cli", *arguments]
    return Terminal(command, columns, lines, environment, stdin)


def is_left_as_it_was(terminal: Terminal) -> bool:
    flags = termios.ECHO | termios.ICANON
    return termios.tcgetattr(terminal.descriptor)[3] & flags == terminal.modes_before[3] & flags


@pytest.mark.parametrize(("columns", "lines"), [(120, 36), (80, 24)])
def test_all_four_panels_are_read_off_the_screen_and_q_leaves_the_terminal_as_it_was(columns, lines):
    terminal = lookahead(
        columns, lines, "visualize", PROMPT, "--max-new-tokens", "16", "-W", "5", "-N", "3", "-G", "5"
    )
    terminal.read_until(lambda text: all(said in text for said in (*PANELS, "■ token limit", "16 tokens in")))
    for said in ("SmolLM2-135M-Instruct · float32 · cpu · W 5 N 3 G 5", "r0", "new ", "n-grams"):
        terminal.read_until(lambda text, said=said: said in text)
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
    assert is_left_as_it_was(terminal)
    assert "compression ratio S = " in terminal.text


def test_a_piped_prompt_takes_its_keys_from_the_terminal():
    reading, writing = os.pipe()
    os.write(writing, b"Two plus two is")
    os.close(writing)
    terminal = lookahead(120, 36, "visualize", "-", "--max-new-tokens", "400", "--paused", stdin=reading)
    os.close(reading)
    terminal.read_until(lambda text: "paused" in text)
    terminal.press(".")
    terminal.read_until(lambda text: "1 step" in text or "step 1/1" in text)
    terminal.press("q")
    assert terminal.exit_code() == 0


@pytest.mark.parametrize("command", [("chat",), ("visualize", PROMPT)])
def test_the_program_ends_with_its_terminal(command):
    program = [sys.executable, "-m", "lookahead_cli", *command]
    shell = ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh", *program]
    terminal = Terminal(shell, 120, 36, {**os.environ, "TERM": "xterm-256color", "OMP_NUM_THREADS": "1"})
    terminal.read_until(lambda text: "importing" in text or "loading" in text)
    terminal.close()
    assert terminal.has_ended(20)


@pytest.mark.parametrize(("columns", "lines"), [(120, 36), (80, 24)])
def test_a_chat_of_two_turns_with_a_stop_is_read_off_the_screen(columns, lines):
    terminal = lookahead(columns, lines, "chat", "--dtype", "float32", "--max-new-tokens", "200")
    terminal.read_until(lambda text: "Ask something" in text)
    terminal.press("What is the capital of France?\r")
    terminal.read_until(lambda text: "tokens/s" in text and "The capital of France is Paris" in text)
    terminal.read_until(lambda text: ("JACOBI WINDOW" in text) is (columns >= 100))
    terminal.press("\x1bOQ")  # F2
    terminal.read_until(lambda text: ("JACOBI WINDOW" in text) is (columns < 100))
    terminal.press("Tell me a long story about a sailor.\r")
    terminal.read_until(lambda text: "you: Tell me" in text and "The" in text.split("sailor.")[-1])
    terminal.press("\x1b")
    terminal.read_until(lambda text: "stopped" in text)
    terminal.press("\x11")
    assert terminal.exit_code() == 0
    assert is_left_as_it_was(terminal)


def test_a_race_is_measured_lane_by_lane_and_its_ids_are_equal():
    terminal = lookahead(
        120, 36, "visualize", PROMPT, "--max-new-tokens", "12", "--race", "-W", "3", "-N", "3"
    )
    terminal.read_until(lambda text: "alone on the machine" in text)
    terminal.read_until(lambda text: "■ over" in text)
    terminal.read_until(lambda text: "ids equal to greedy's, every one" in text and "12 steps" in text)
    terminal.press("c")
    terminal.read_until(lambda text: "one step each" in text)
    terminal.press("\x1b[H")
    terminal.read_until(lambda text: "step 0 of 12" in text)
    terminal.resize(80, 24)
    terminal.press("g")
    terminal.read_until(lambda text: all(said in text for said in PANELS))
    terminal.press("q")
    assert terminal.exit_code() == 0
    assert is_left_as_it_was(terminal)
    assert "measured one after another" in terminal.text
