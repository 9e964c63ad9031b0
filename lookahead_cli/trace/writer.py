"""Writes a trace as it happens, flushed a step at a time, so that a killed run leaves a readable one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO

from lookahead_cli.trace.events import Footer, Header, StepEvent
from lookahead_cli.trace.schema import to_json

TraceEvent = Header | StepEvent | Footer


class TraceWriter:
    """A trace being written.

    Args:
        target: A path, which is created or replaced, or a text stream, which stays open.
    """

    def __init__(self, target: str | os.PathLike[str] | IO[str]) -> None:
        self._owned = isinstance(target, str | os.PathLike)
        self._stream: IO[str]
        if isinstance(target, str | os.PathLike):
            self._stream = Path(target).open("w", encoding="utf-8")  # noqa: SIM115 - `close` closes it
        else:
            self._stream = target

    def write(self, event: TraceEvent) -> None:
        """Write one event as one line."""
        # Escapes keep lone surrogates and control characters out of the file.
        self._stream.write(json.dumps(to_json(event), ensure_ascii=True, separators=(",", ":")) + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Close the file, if it is ours."""
        if self._owned:
            self._stream.close()

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def record(
    events: Iterable[TraceEvent], path: str | os.PathLike[str], on_failure: Callable[[OSError], None]
) -> Iterator[TraceEvent]:
    """Pass events through and write them to `path` beside it.

    A file that can no longer be written, such as on a full disk, ends the recording, not the decoding:
    `on_failure` is called once and the events go on.
    """
    writer: TraceWriter | None = None
    try:
        try:
            writer = TraceWriter(path)
        except OSError as error:
            on_failure(error)
        for event in events:
            if writer is not None:
                try:
                    writer.write(event)
                except OSError as error:
                    on_failure(error)
                    _close_quietly(writer)
                    writer = None
            yield event
    finally:
        if writer is not None:
            try:
                writer.close()
            except OSError as error:
                on_failure(error)


def _close_quietly(writer: TraceWriter) -> None:
    # Closing flushes again, and fails again where the disk is full; that was already said.
    try:
        writer.close()
    except OSError:
        return
