"""Where a screen gets its run from: a running model or a recorded trace."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import UsageError
from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent


class EventSource(Protocol):
    """Gives the events of a run."""

    def events(
        self, cancel: threading.Event, report: Callable[[Progress], None]
    ) -> Iterator[Header | StepEvent | Footer]:
        """The run's events; called in a worker thread.

        Args:
            cancel: Set when the person stops the run.
            report: Takes news of work before the first step and after the last.

        Raises:
            LookaheadError: The run cannot start or go on.
        """
        ...


@dataclass(frozen=True, slots=True)
class Rival:
    """Who races beside a run, on the same prompt.

    Attributes:
        method: Its decoding method.
        name: Method and settings in a few words.
        source: Gives its run.
        key: The same for the same settings: what was measured once is not measured again.
    """

    method: str
    name: str
    source: EventSource
    key: Hashable


class RunSource(EventSource, Protocol):
    """A run that can be shown, and run again with other settings unless it is a recording."""

    @property
    def title(self) -> str:
        """What is run."""
        ...

    @property
    def recorded(self) -> bool:
        """True where the run is over and only shown again."""
        ...

    @property
    def config(self) -> LookaheadConfig | None:
        """The settings, None for a recording."""
        ...

    def change(self, config: LookaheadConfig) -> None:
        """Take settings for the next run; never called for a recording."""
        ...

    def rivals(self) -> Sequence[Rival]:
        """Who races beside this run; called once its header came. Their runs leave no trace on disk.

        Raises:
            LookaheadError: There is nobody to race with; says what to do.
        """
        ...


class TraceSource:
    """A recorded trace.

    Args:
        file: The trace's file, or a stream of its lines.
        title: What is shown as long as nothing of it was read.
        rivals: Other recordings of the same prompt, to race with.
    """

    def __init__(self, file: Path | IO[str], title: str | None = None, rivals: Sequence[Rival] = ()) -> None:
        self._file = file
        self._title = title or str(getattr(file, "name", file))
        self._rivals = rivals

    @classmethod
    def named(cls, name: str, rivals: Sequence[Rival] = ()) -> TraceSource:
        """The trace in a file, or on standard input for `-`."""
        if name != "-":
            return cls(Path(name), Path(name).name, rivals)
        # The keyboard may take the place of standard input before the trace is read.
        return cls(os.fdopen(os.dup(sys.stdin.fileno()), encoding="utf-8"), "standard input")

    @property
    def title(self) -> str:
        """The file's name."""
        return self._title

    @property
    def recorded(self) -> bool:
        """True: the run is over."""
        return True

    @property
    def config(self) -> None:
        """None: there is no next run."""
        return None

    def change(self, config: LookaheadConfig) -> None:
        """Never called."""
        raise AssertionError("a recording cannot be run again")

    def rivals(self) -> Sequence[Rival]:
        """The other recordings.

        Raises:
            UsageError: There is none.
        """
        if not self._rivals:
            raise UsageError(
                "A recording races other recordings of the same prompt.",
                "Name them: 'lookahead replay TRACE --race OTHER'.",
            )
        return self._rivals

    def events(
        self, cancel: threading.Event, report: Callable[[Progress], None]
    ) -> Iterator[Header | StepEvent | Footer]:
        """The trace's events, until `cancel` is set.

        Raises:
            InputError: The file is no trace; names the file and the line.
        """
        from lookahead_cli.trace.reader import read_trace

        # Hundreds of thousands of records, none in a cycle: collecting among them takes as long as reading.
        gc.disable()
        try:
            for event in read_trace(self._file):
                yield event
                if cancel.is_set():
                    return
        finally:
            gc.enable()
            gc.freeze()
