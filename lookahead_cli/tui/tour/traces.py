"""The recorded runs of the tour: read when they are first shown, without a model."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lookahead_cli.errors import InputError
from lookahead_cli.trace.reader import read_trace
from lookahead_cli.tui.run_view import RunView

TRACES = ("greedy", "jacobi", "lookahead", "costly")
"""Names of the runs; `make tour-traces` records them anew."""


def trace_file(name: str) -> Path:
    """The file of a run."""
    return Path(__file__).parent / "traces" / f"{name}.jsonl.gz"


@contextmanager
def open_trace(name: str) -> Iterator[IO[str]]:
    """The lines of a run's trace.

    Raises:
        InputError: The file is missing, or what was read of it is no trace; so the installation is damaged.
    """
    try:
        with gzip.open(trace_file(name), "rt", encoding="utf-8") as stream:
            yield stream
    except (OSError, EOFError, zlib.error, InputError) as error:
        raise InputError(
            f"The tour's recorded run '{name}' is missing or damaged.", "Install lookahead-cli again."
        ) from error


class TourRuns:
    """The runs, each read once."""

    def __init__(self) -> None:
        self._views: dict[str, RunView] = {}

    def read_all(self) -> None:
        """Read all runs now, before a screen is opened.

        Raises:
            InputError: A file is missing or damaged.
        """
        for name in TRACES:
            self.view(name)

    def view(self, name: str) -> RunView:
        """A whole run.

        Raises:
            InputError: Its file is missing or damaged.
        """
        if name not in self._views:
            view = RunView(recorded=True)
            with open_trace(name) as stream:
                for event in read_trace(stream):
                    view.take(event)
            self._views[name] = view
        return self._views[name]
