"""Keys from the terminal while standard input is a pipe."""

from __future__ import annotations

import os
import pty
import sys

CODE = """
import os, sys
from lookahead_cli.tui.terminal import keyboard_from_terminal
with keyboard_from_terminal() as there:
    print("there", there, "terminal", os.isatty(0), "same", sys.__stdin__.fileno() == 0)
    if there:
        print("key", repr(sys.stdin.readline()))
print("after", os.isatty(0), repr(sys.stdin.read()))
"""


def run(*, with_terminal: bool) -> str:
    """Run the code with a piped standard input, in a session with or without a controlling terminal."""
    reading, writing = os.pipe()
    os.write(writing, b"the prompt")
    os.close(writing)
    told, telling = os.pipe()
    pid, terminal = pty.fork()
    if pid == 0:
        if not with_terminal:
            if os.fork():
                os._exit(os.wait()[1])
            os.setsid()
        os.dup2(reading, 0)
        os.dup2(telling, 1)
        os.execv(sys.executable, [sys.executable, "-c", CODE])
    os.close(telling)
    os.close(reading)
    os.write(terminal, b"typed\n")
    with os.fdopen(told) as stream:
        said = stream.read()
    os.waitpid(pid, 0)
    os.close(terminal)
    return said


def test_the_terminal_is_standard_input_for_a_while_and_the_pipe_comes_back():
    said = run(with_terminal=True)
    assert "there True terminal True same True" in said
    assert "key 'typed\\n'" in said
    assert "after False 'the prompt'" in said


def test_where_there_is_no_terminal_nothing_is_changed():
    said = run(with_terminal=False)
    assert "there False terminal False" in said
    assert "after False 'the prompt'" in said
