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
        InputError: The file is not there or is damaged, so the installation is.
    """
    try:
        with gzip.open(trace_file(name), "rt", encoding="utf-8") as stream:
            yield stream
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"The tour's recorded run '{name}' cannot be read: {error}.", "Install lookahead-cli again."
        ) from error


def check_traces() -> None:
    """Refuse to start a tour that has lost a run.

    Raises:
        InputError: A file is not there or is damaged.
    """
    for name in TRACES:
        with open_trace(name) as stream:
            stream.readline()


class TourRuns:
    """The runs, each read once."""

    def __init__(self) -> None:
        self._views: dict[str, RunView] = {}

    def view(self, name: str) -> RunView:
        """A whole run, its first step looked at.

        Raises:
            InputError: The file is not there or is damaged.
        """
        if name not in self._views:
            view = RunView(recorded=True)
            with open_trace(name) as stream:
                for event in read_trace(stream):
                    view.take(event)
            view.look_at(0)
            self._views[name] = view
        return self._views[name]
