"""Keys from the terminal itself while standard input is a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


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
