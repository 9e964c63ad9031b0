"""The two output streams: standard output is data, standard error is diagnostics."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from lookahead_cli.errors import LookaheadError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from lookahead_cli.trace.events import Progress

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class OutputError(LookaheadError):
    """Standard output cannot be written."""


def without_controls(text: str) -> str:
    """`text` on one line, with every control character spelled out, so that it cannot steer a terminal."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def complain(message: str, hint: str = "") -> None:
    """Say what went wrong, in one line on standard error."""
    print(f"lookahead: {without_controls(f'{message} {hint}'.strip())}", file=sys.stderr)


def note(message: str) -> None:
    """Say something on standard error that is no error."""
    print(without_controls(message), file=sys.stderr)


def output_console() -> Console:
    """Console on standard output that shows text as it is: no markup, no highlighting, no emoji codes."""
    from rich.console import Console

    class OutputConsole(Console):
        """A console that tells the command line when its reader has left, where Rich would exit."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return OutputConsole(markup=False, highlight=False, emoji=False)


def error_console() -> Console:
    """The same on standard error."""
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False, stderr=True)


def never_fail_on_encoding() -> None:
    """Let a terminal without a character show its escape instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def discard_output() -> None:
    """Send the rest of standard output nowhere, so that the flush at exit cannot fail a second time."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - os.devnull is no path of ours
        os.dup2(nowhere.fileno(), descriptor)


@contextmanager
def writing_output() -> Iterator[None]:
    """Turn a failed write of standard output into one sentence.

    Raises:
        OutputError: The write failed; BrokenPipeError passes through, since its reader left on purpose.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise  # That is no stream.
        discard_output()
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OutputError(
            f"Standard output cannot be written ({reason}).", "Free some space, or send it somewhere else."
        ) from error


class StderrProgress:
    """Shows progress on standard error: a bar on a terminal, one line a task elsewhere.

    Call it with each `Progress`; `clear` takes the bar away before something else is printed.
    """

    def __init__(self) -> None:
        self._console = error_console()
        self._label = ""
        self._bar: Bars | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def __call__(self, progress: Progress) -> None:
        """Show where the work is."""
        if self._console.is_terminal:
            self._draw(progress)
        elif progress.label != self._label:
            note(progress.label)
        self._label = progress.label

    def clear(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _draw(self, progress: Progress) -> None:
        if self._bar is None:
            self._bar, self._task = _start_bar(self._console)
        assert self._task is not None
        from lookahead_cli.trace.words import amount

        self._bar.update(
            self._task,
            description=without_controls(progress.label),
            completed=progress.done,
            total=progress.total,
            amount=amount(progress),
        )


def _start_bar(console: Console) -> tuple[Bars, TaskID]:
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    bars = Bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[amount]}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    bars.start()
    return bars, bars.add_task("", total=None, amount="")
