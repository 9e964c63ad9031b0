"""The real program, started often: forked off a server that has imported torch and Textual once.

What runs is the command line's own `main`, in a process of its own that can be killed like any other.
"""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import os
import pty
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import pyte

from tests.terminal import Terminal

_IMPORTED = (
    "torch",
    "transformers.models.auto.modeling_auto",
    "transformers.models.llama.modeling_llama",
    "lookahead_cli.chat.conversation",
    "lookahead_cli.cli.app",
    "lookahead_cli.cli.chat",
    "lookahead_cli.models.language_model",
    "lookahead_cli.models.pools",
    "lookahead_cli.tui.chat",
    "textual.drivers.linux_driver",
)
# A killed program leaves semaphores of tqdm's behind; who removes them at the end would complain of each.
os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker:UserWarning")
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(list(_IMPORTED))


def _main(arguments: Sequence[str], environment: Mapping[str, str], streams: Sequence[str]) -> None:
    """In the new process: put the standard streams where they belong, and begin."""
    os.environ.clear()
    os.environ.update(environment)
    for number, name in enumerate(streams):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), number)
    if os.isatty(0):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # Those that were forked with the server remember what its own streams were.
    sys.stdin = sys.__stdin__ = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", buffering=1, encoding="utf-8", closefd=False)
    from lookahead_cli.cli import main

    main(arguments)


def _started(
    arguments: Sequence[str], environment: Mapping[str, str], streams: Sequence[str]
) -> multiprocessing.process.BaseProcess:
    said = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = _SERVER.Process(target=_main, args=(tuple(arguments), said | dict(environment), streams))
    process.daemon = True
    process.start()
    return process


class Program:
    """A program whose output goes into a file: what it said before it was killed is there, to the last line.

    Args:
        arguments: Behind `lookahead`.
        environment: Beside the one of the tests.
        output: The file; what it says on standard error goes into one beside it.
    """

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], output: Path) -> None:
        self._output = output
        self._errors = output.with_suffix(".err")
        for file in (output, self._errors):
            file.write_bytes(b"")
        streams = (os.devnull, str(output), str(self._errors))
        self._process = _started(arguments, environment, streams)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *failure: object) -> None:
        self.kill()

    @property
    def process_id(self) -> int:
        """Of the program."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The JSON lines that it wrote; one that is not at its end is none."""
        whole, _, _ = self._output.read_bytes().rpartition(b"\n")
        return [json.loads(line) for line in whole.splitlines()]

    @property
    def errors(self) -> str:
        """What it said on standard error."""
        return self._errors.read_text(encoding="utf-8", errors="replace")

    def wait_for_lines(self, count: int, seconds: float = 120) -> bool:
        """Wait for its output; false where the program ended before."""
        deadline = time.monotonic() + seconds
        while self._output.read_bytes().count(b"\n") < count:
            assert time.monotonic() < deadline, f"no line {count} in {seconds} s; {self.errors}"
            if not self._process.is_alive():
                return self._output.read_bytes().count(b"\n") >= count
            time.sleep(0.0005)
        return True

    def exit_code(self, seconds: float = 120) -> int:
        """Wait for its end."""
        self._process.join(seconds)
        assert self._process.exitcode is not None, f"still running after {seconds} s; {self.errors}"
        return self._process.exitcode

    def kill(self) -> None:
        """SIGKILL, wherever it is."""
        self._process.kill()
        self._process.join()


class ProgramTerminal(Terminal):
    """The same on a terminal; see `tests.terminal`.

    Args:
        arguments: Behind `lookahead`.
        environment: Beside the one of the tests.
        columns: Of the terminal.
        lines: Of the terminal.
    """

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], columns: int = 120, lines: int = 36
    ) -> None:
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self._status = None
        self.descriptor, self._inside = pty.openpty()
        self.resize(columns, lines)
        self.modes_before = termios.tcgetattr(self.descriptor)
        said = {"TERM": "xterm-256color", **environment}
        self._process = _started(arguments, said, (os.ttyname(self._inside),) * 3)

    def __enter__(self) -> ProgramTerminal:
        return self

    def __exit__(self, *failure: object) -> None:
        self.kill()
        os.close(self.descriptor)
        os.close(self._inside)

    @property
    def processor_seconds(self) -> float:
        """What it has used so far, all its threads together."""
        times = psutil.Process(self._process.pid).cpu_times()
        return times.user + times.system

    def kill(self) -> None:
        """SIGKILL, wherever it is."""
        self._process.kill()
        self._process.join()

    def _read(self, seconds: float) -> bool:
        # This side of the terminal stays open, so that the program's end is no end of file.
        has_ended = not self._process.is_alive()
        if super()._read(0 if has_ended else seconds):
            return True
        if has_ended:
            self._status = self._process.exitcode
        return False
