"""Reads traces; says file and line of what cannot be read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from lookahead_cli.errors import InputError
from lookahead_cli.trace.events import Footer, Header, StepEvent, TokenText
from lookahead_cli.trace.schema import NewerSchemaError, SchemaError, from_line

_LONGEST_LINE = 1 << 26
"""Characters; a step with thousands of nodes has a fraction of them."""


def read_trace(file: str | os.PathLike[str] | IO[str]) -> Iterator[Header | StepEvent | Footer]:
    """Read a trace, event by event.

    A trace of a run that was killed has no footer, and perhaps half a last line: it is read up to there, and
    gets a footer with finish reason `cut`.

    Args:
        file: A path, or a stream of the trace's lines, which is closed at its end.

    Raises:
        InputError: There is no such file, or a line of it is not an event; names the file and the line.
    """
    if not isinstance(file, str | os.PathLike):
        with file:
            yield from _events(_lines_of(file), "standard input")
        return
    name = os.fspath(file)
    try:
        stream = Path(file).open(encoding="utf-8")  # noqa: SIM115 - closed by the `with` below, opened where its errors are told apart
    except FileNotFoundError as error:
        raise InputError(
            f"There is no trace '{name}'.", "Record one with 'lookahead visualize FILE --record TRACE'."
        ) from error
    except OSError as error:
        raise InputError(
            f"'{name}' cannot be read: {error.strerror or error}.", "Give a trace file."
        ) from error
    with stream:
        yield from _events(_lines_of(stream), name)


def _lines_of(stream: IO[str]) -> Iterator[str]:
    return iter(lambda: stream.readline(_LONGEST_LINE), "")


def read_lines(lines: Iterable[str], name: str) -> Iterator[Header | StepEvent | Footer]:
    """Read the lines of a trace that is no file.

    Args:
        lines: The lines, each with its end.
        name: What they are, for errors.

    Raises:
        InputError: A line is not an event.
    """
    yield from _events(lines, name)


def _events(lines: Iterable[str], name: str) -> Iterator[Header | StepEvent | Footer]:
    header: Header | None = None
    steps: list[StepEvent] = []
    try:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                event = from_line(line)
            except (SchemaError, RecursionError) as error:
                if header is not None and not line.endswith("\n"):
                    break  # The run was killed while it wrote this line.
                if isinstance(error, NewerSchemaError):
                    raise _newer(name, str(error)) from error
                raise _damaged(name, number, str(error)) from error
            if event is None:
                continue
            if header is None and not isinstance(event, Header):
                raise _damaged(name, number, "a trace begins with its header")
            if isinstance(event, Header):
                if header is not None:
                    raise _damaged(name, number, "a second header")
                header = event
            elif isinstance(event, StepEvent):
                if event.step.index != len(steps):
                    raise _damaged(name, number, f"step {event.step.index} where {len(steps)} was expected")
                _check_tree(event, name, number)
                steps.append(event)
            else:
                _check_sums(event, steps, name, number)
            yield event
            if isinstance(event, Footer):
                return
    except UnicodeDecodeError as error:
        raise _damaged(name, 1, "it is not text") from error
    if header is None:
        raise _damaged(name, 1, "the file is empty")
    yield _footer_of_a_cut_trace(header, steps)


def _check_tree(event: StepEvent, name: str, number: int) -> None:
    step = event.step
    nodes = len(step.nodes)
    sound = all(-1 <= node.parent < index for index, node in enumerate(step.nodes))
    if not (sound and all(0 <= node < nodes for node in step.path) and step.accepted):
        raise _damaged(name, number, "its nodes are no tree with a path of accepted tokens")


def _check_sums(footer: Footer, steps: list[StepEvent], name: str, number: int) -> None:
    ids = tuple(token for event in steps for token in event.step.token_ids)
    ratio = len(ids) / len(steps) if steps else 0.0
    if footer.output_ids != ids or footer.steps != len(steps) or abs(footer.compression_ratio - ratio) > 1e-6:
        raise _damaged(name, number, "its figures are not those of the steps before")


def _damaged(name: str, number: int, reason: str) -> InputError:
    return InputError(
        f"'{name}' line {number} is not part of a trace: {reason}.",
        "Give a file that '--record' or '--json' wrote.",
    )


def _newer(name: str, reason: str) -> InputError:
    return InputError(
        f"'{name}' was written by a newer version: {reason}.", "Update lookahead to read this trace."
    )


def _footer_of_a_cut_trace(header: Header, steps: list[StepEvent]) -> Footer:
    texts: dict[int, TokenText] = dict(header.tokens)
    for event in steps:
        texts.update(event.tokens)
    ids = tuple(token for event in steps for token in event.step.token_ids)
    raw = b"".join(texts[token].raw for token in ids if token in texts and not texts[token].special)
    return Footer(
        output_ids=ids,
        text=raw.decode("utf-8", errors="replace"),
        steps=len(steps),
        compression_ratio=len(ids) / len(steps) if steps else 0.0,
        seconds=sum(event.step.seconds.total for event in steps),
        finish_reason="cut",
    )
