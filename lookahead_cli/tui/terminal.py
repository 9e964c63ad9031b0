"""The terminal of a full-screen program: keys while standard input is a pipe, and the end of it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def end_with_terminal() -> None:
    """End the program when its terminal is closed, also where it was started with that signal ignored.

    Textual would read the closed terminal for ever, at full speed.
    """
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@contextmanager
def keyboard_from_terminal() -> Iterator[bool]:
    """Make the controlling terminal the process's standard input for a while.

    Textual reads keys from the process's real standard input, so the descriptor itself is exchanged.

    Yields:
        False where there is no terminal to read keys from; nothing was changed then.
    """
    if sys.stdin is not None and sys.stdin.isatty():
        yield True
        return
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        yield False
        return
    piped = os.dup(0)
    old_stdin, old_original = sys.stdin, sys.__stdin__
    os.dup2(terminal, 0)
    os.close(terminal)
    keys = os.fdopen(0, "r", closefd=False)
    sys.stdin = sys.__stdin__ = keys  # type: ignore[misc]  # the typeshed calls it final; Textual reads it
    try:
        yield True
    finally:
        sys.stdin, sys.__stdin__ = old_stdin, old_original  # type: ignore[misc]  # as above
        os.dup2(piped, 0)
        os.close(piped)
