"""Recorded runs of the default model that come as if they were decoded now, as far as a test lets them."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import LookaheadError
from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent, TokenText
from lookahead_cli.trace.reader import read_trace
from lookahead_cli.trace.settings import settings_words
from lookahead_cli.tui.source import Rival
from lookahead_cli.tui.token_text import text_of

Events = Iterator[Header | StepEvent | Footer]
Report = Callable[[Progress], None]


def recording(name: str) -> Path:
    return Path(__file__).parent / "recordings" / f"{name}.jsonl.gz"


def recorded_events(name: str) -> Events:
    with gzip.open(recording(name), "rt", encoding="utf-8") as lines:
        yield from read_trace(lines)


def header_of(name: str) -> Header:
    header = next(recorded_events(name))
    assert isinstance(header, Header)
    return header


def rerun(name: str, cancel: threading.Event, held_after: int | None = None) -> Events:
    """A run with the steps and times of a recording; a stopped one ends as those of a model do.

    Args:
        name: The recording.
        cancel: Stops it.
        held_after: Steps that come before it waits to be stopped, None for all.
    """
    steps: list[StepEvent] = []
    tokens: dict[int, TokenText] = {}
    for event in recorded_events(name):
        if isinstance(event, Footer) or not cancel.is_set():
            stopped = isinstance(event, Footer) and cancel.is_set()
            yield _cut(event, steps, tokens) if stopped else event
        if isinstance(event, Header):
            tokens |= event.tokens
        elif isinstance(event, StepEvent) and not cancel.is_set():
            steps.append(event)
            tokens |= event.tokens
            if len(steps) == held_after:
                cancel.wait()


def _cut(footer: Footer, steps: Sequence[StepEvent], tokens: dict[int, TokenText]) -> Footer:
    ids = tuple(token for event in steps for token in event.step.token_ids)
    return replace(
        footer,
        output_ids=ids,
        text=text_of(tokens[token] for token in ids),
        steps=len(steps),
        compression_ratio=len(ids) / len(steps),
        seconds=sum(event.step.seconds.total for event in steps),
        finish_reason="cancelled",
        greedy=None,
    )


@dataclass
class Rerun:
    """A run of a recording, or one that fails.

    Attributes:
        name: The recording.
        held_after: Steps that come before it waits to be stopped, None for all.
        failure: What it raises instead of a first step.
    """

    name: str
    held_after: int | None = None
    failure: LookaheadError | None = None

    def events(self, cancel: threading.Event, report: Report) -> Events:
        if self.failure is not None:
            raise self.failure
        return rerun(self.name, cancel, self.held_after)

    def rival(self) -> Rival:
        config = header_of(self.name).config
        return Rival(str(config["method"]), settings_words(config), self, self.name)


@dataclass
class LiveRun:
    """The same as a run that is shown; what is done before its first step is said as it is given.

    Attributes:
        run: The run.
        against: Who races beside it.
        may_begin: Held back where a test wants to see what is done before.
        say: Takes news of that, once the run was begun.
    """

    run: Rerun
    against: Sequence[Rerun] = ()
    may_begin: threading.Event = field(default_factory=threading.Event)
    say: Report | None = None
    recorded: bool = False

    @property
    def title(self) -> str:
        return f"{header_of(self.run.name).model} · code-fibonacci.py"

    @property
    def config(self) -> LookaheadConfig:
        return LookaheadConfig(**header_of(self.run.name).config)

    def change(self, config: LookaheadConfig) -> None:
        raise AssertionError("no test runs it again")

    def rivals(self) -> Sequence[Rival]:
        return [each.rival() for each in self.against]

    def events(self, cancel: threading.Event, report: Report) -> Events:
        self.say = report
        while not (cancel.is_set() or self.may_begin.wait(0.01)):
            pass
        return iter(()) if cancel.is_set() else self.run.events(cancel, report)
