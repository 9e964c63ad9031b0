"""What a chat does in a worker thread, each a source of events: loading, making room, answering, checking."""

from __future__ import annotations

import threading
from collections.abc import Callable

from lookahead_cli.tui.talk import Checked, Events, Report, WhenFull

Run = Callable[[threading.Event, Report, WhenFull | None], Events]


class Loading:
    """Loading a model as a source of progress alone.

    Args:
        load: Does it.
        spec: What another model is called, None for the first one.
    """

    def __init__(self, load: Callable[[Report], object], spec: str | None = None) -> None:
        self.spec = spec
        self._load = load

    def events(self, cancel: threading.Event, report: Report) -> Events:
        """Do it."""
        self._load(report)
        return iter(())


class MakingRoom:
    """Leaving out or summarising what was said, as a source of progress alone."""

    def __init__(self, make: Callable[[threading.Event, Report], bool]) -> None:
        self._make = make

    def events(self, cancel: threading.Event, report: Report) -> Events:
        """Do it."""
        self._make(cancel, report)
        return iter(())


class Checking:
    """Decoding an answer again, as a source of progress alone.

    Args:
        check: Does it.

    Attributes:
        result: What it showed, None until it has ended, or where it was stopped.
    """

    def __init__(self, check: Callable[[threading.Event, Report], Checked | None]) -> None:
        self.result: Checked | None = None
        self._check = check

    def events(self, cancel: threading.Event, report: Report) -> Events:
        """Do it."""
        self.result = self._check(cancel, report)
        return iter(())


class Turn:
    """One answer as a source of events.

    Args:
        run: Answers.
        when_full: What to do when the model's context is full; None for what the conversation says.
    """

    def __init__(self, run: Run, when_full: WhenFull | None = None) -> None:
        self._run = run
        self._when_full = when_full

    def events(self, cancel: threading.Event, report: Report) -> Events:
        """Do it."""
        return self._run(cancel, report, self._when_full)
