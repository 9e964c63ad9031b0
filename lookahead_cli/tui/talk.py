"""What the chat screen asks of a conversation; its runs are read in a worker thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from lookahead_cli.sessions.records import Figures, Role
from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent

Report = Callable[[Progress], None]
Events = Iterator[Header | StepEvent | Footer]


class Answerer(Protocol):
    """Who answers."""

    @property
    def title(self) -> str:
        """Its name, for people."""
        ...

    def load(self, report: Report) -> object:
        """Load the model, if that was not done; called in a worker thread.

        Raises:
            LookaheadError: The model cannot be used.
        """
        ...


class Said(Protocol):
    """A message of a conversation."""

    @property
    def role(self) -> Role:
        """Who said it."""
        ...

    @property
    def content(self) -> str:
        """The text."""
        ...

    @property
    def finish_reason(self) -> str | None:
        """Why an answer ended."""
        ...

    @property
    def figures(self) -> Figures | None:
        """How an answer was decoded."""
        ...


class Talk(Protocol):
    """A conversation; its runs are read in a worker thread, and raise LookaheadError."""

    @property
    def answerer(self) -> Answerer:
        """Who answers."""
        ...

    @property
    def messages(self) -> Sequence[Said]:
        """What was said."""
        ...

    @property
    def unanswered(self) -> str | None:
        """A question that a killed program left without any answer."""
        ...

    @property
    def can_go_on(self) -> bool:
        """True where the last answer did not end by itself."""
        ...

    def ask(self, question: str, cancel: threading.Event, report: Report) -> Events:
        """Answer a question; one of which nothing was answered is taken back."""
        ...

    def retry(self, cancel: threading.Event, report: Report) -> Events:
        """Answer the last question again."""
        ...

    def go_on(self, cancel: threading.Event, report: Report) -> Events:
        """Go on with the last answer."""
        ...

    def undo(self) -> str:
        """Take the last turn back; returns its question."""
        ...

    def rename(self, name: str) -> str:
        """Call the session something else; returns its name."""
        ...

    def export(self, file: Path) -> None:
        """Write the session as Markdown, or as JSON where the file is named so."""
        ...
