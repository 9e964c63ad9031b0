"""A real pseudo-terminal with a terminal emulator: start a program, press keys, read its screen."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Sequence
from typing import ClassVar

import pyte


class Terminal:
    """A program running in a pseudo-terminal of `columns` x `lines`."""

    running: ClassVar[set[int]] = set()

    def __init__(
        self,
        command: Sequence[str],
        columns: int,
        lines: int,
        environment: dict[str, str],
        stdin: int | None = None,
    ) -> None:
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self._status: int | None = None
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            if stdin is not None:
                os.dup2(stdin, 0)
            # A test runner may say how wide its own output is; here the terminal's size counts.
            said = {name: value for name, value in environment.items() if name not in ("COLUMNS", "LINES")}
            os.execvpe(command[0], list(command), said)
        self.running.add(self.pid)
        self.resize(columns, lines)
        self.modes_before = termios.tcgetattr(self.descriptor)

    def resize(self, columns: int, lines: int) -> None:
        """Change the size, as a person who drags the window does."""
        self._screen.resize(lines, columns)
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    @property
    def text(self) -> str:
        """What is on the screen."""
        # The second cell of a wide character is empty, and stays so where its first was written over.
        return "\n".join("".join(cell.data for cell in row) for row in self.cells)

    @property
    def cells(self) -> list[list[pyte.screens.Char]]:
        """Every cell of the screen: its character, its colours and its style."""
        rows, columns = range(self._screen.lines), range(self._screen.columns)
        return [[self._screen.buffer[row][column] for column in columns] for row in rows]

    def forget(self) -> None:
        """Start from an empty screen: only what the program draws from now on is there."""
        self._screen.erase_in_display(2)

    @classmethod
    def end_all(cls) -> None:
        """End the programs that a test left running."""
        while cls.running:
            pid = cls.running.pop()
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def close(self) -> None:
        """Take the terminal away, as a person who closes its window does."""
        os.close(self.descriptor)

    def has_ended(self, seconds: float) -> bool:
        """True when the program ends in time; it is not read meanwhile."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                self.running.discard(self.pid)
                return True
            time.sleep(0.1)
        return False

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self.descriptor, keys.encode())

    def read_until(self, wanted: Callable[[str], bool], seconds: float = 120) -> str:
        """Read the program's output until the screen is as wanted; fails with the screen's text."""
        deadline = time.monotonic() + seconds
        while not wanted(self.text):
            assert time.monotonic() < deadline, f"not seen in {seconds} s; the screen:\n{self.text}"
            if not self._read(0.2) and self._status is not None:
                raise AssertionError(f"the program ended; the screen:\n{self.text}")
        return self.text

    def read_for(self, seconds: float) -> None:
        """Read for a time, as a person looks on."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._read(left)

    def read_until_quiet(self, seconds: float = 1.0) -> str:
        """Read until the program has written nothing for `seconds`."""
        while self._read(seconds):
            pass
        return self.text

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.descriptor], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.descriptor, 65536)
        except OSError:
            data = b""
        if not data:
            self._wait()
            return False
        self._take(data)
        return True

    def _take(self, data: bytes) -> None:
        self._stream.feed(data)

    def _wait(self) -> None:
        if self._status is None:
            _, status = os.waitpid(self.pid, 0)
            self.running.discard(self.pid)
            self._status = os.waitstatus_to_exitcode(status)

    def exit_code(self, seconds: float = 60) -> int:
        """Read to the program's end and return its exit code."""
        deadline = time.monotonic() + seconds
        while self._status is None:
            assert time.monotonic() < deadline, f"still running after {seconds} s; the screen:\n{self.text}"
            self._read(0.2)
        return self._status
