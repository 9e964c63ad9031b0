"""What the chat screen asks of a conversation; its runs are read in a worker thread."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.sessions.records import Figures, Role, SessionInfo
from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent

Report = Callable[[Progress], None]
Events = Iterator[Header | StepEvent | Footer]
WhenFull = Literal["ask", "drop", "summarise", "stop"]
"""What to do when the model's context is full: the oldest turns are left out, or the model summarises."""


@dataclass(frozen=True, slots=True)
class ContextUse:
    """How much of a model's context a conversation uses.

    Attributes:
        used: Tokens.
        limit: Positions that the model has, None for no limit.
    """

    used: int
    limit: int | None

    @property
    def share(self) -> float:
        """Of the limit, 0.0 where there is none."""
        return self.used / self.limit if self.limit else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model that may answer.

    Attributes:
        spec: What `--model` takes.
        title: The same for people.
        here: True where nothing has to be fetched.
        download_bytes: Size of the files.
        dtype: The type that it would compute in.
        memory_bytes: Its weights in that type.
        fits: True where the device has room for them, and a tenth to spare.
        current: True for the one that answers.
    """

    spec: str
    title: str
    here: bool
    download_bytes: int
    dtype: str
    memory_bytes: int
    fits: bool
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFigures:
    """What an n-gram pool holds.

    Attributes:
        ngrams: How many.
        keys: First tokens that differ.
        ngram_size: N.
        guess_set_size: G.
        sources: How many of them were last seen where.
    """

    ngrams: int
    keys: int
    ngram_size: int
    guess_set_size: int
    sources: Counter[str]


class Answerer(Protocol):
    """Who answers."""

    @property
    def title(self) -> str:
        """Its name, for people."""
        ...

    @property
    def spec(self) -> str:
        """What `--model` says."""
        ...

    @property
    def config(self) -> LookaheadConfig:
        """The settings of the next run."""
        ...

    @property
    def knows_roles(self) -> bool:
        """False for a model without a chat template, which goes on with plain text."""
        ...

    def change(self, config: LookaheadConfig) -> None:
        """Take settings for the runs to come.

        Raises:
            LookaheadError: They cannot work.
        """
        ...

    def models(self) -> Sequence[ModelChoice]:
        """The models to choose from; called in a worker thread."""
        ...

    def model_names(self) -> Sequence[str]:
        """The short names of models; they are there at once."""
        ...

    def pool_figures(self) -> PoolFigures:
        """What the pool holds.

        Raises:
            LookaheadError: There is none.
        """
        ...

    def clear_pool(self) -> None:
        """Forget every n-gram."""
        ...

    def save_pool(self, file: Path) -> None:
        """Write the pool."""
        ...

    def load_pool(self, file: Path) -> None:
        """Take the pool of a file in place of this one."""
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

    @property
    def covers(self) -> int:
        """How many messages, counted from the first, a summary stands for."""
        ...


class Checked(Protocol):
    """An answer beside greedy decoding of the same prompt."""

    @property
    def ids_equal(self) -> bool:
        """True when every id is the same."""
        ...

    @property
    def words(self) -> str:
        """The same for people."""
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

    @property
    def when_full(self) -> WhenFull:
        """What to do when the model's context is full."""
        ...

    @property
    def context(self) -> ContextUse | None:
        """Tokens of what was said so far; None until a model is loaded."""
        ...

    def ask(
        self, question: str, cancel: threading.Event, report: Report, when_full: WhenFull | None = None
    ) -> Events:
        """Answer a question; one of which nothing was answered is taken back."""
        ...

    def retry(self, cancel: threading.Event, report: Report, when_full: WhenFull | None = None) -> Events:
        """Answer the last question again."""
        ...

    def go_on(self, cancel: threading.Event, report: Report, when_full: WhenFull | None = None) -> Events:
        """Go on with the last answer."""
        ...

    def make_room(self, how: WhenFull, cancel: threading.Event, report: Report) -> bool:
        """Leave out the oldest turns, or let a summary stand for them; False where that was stopped."""
        ...

    def check(self, cancel: threading.Event, report: Report) -> Checked | None:
        """Decode the last answer again, one token a step, and compare; None where that was stopped."""
        ...

    def undo(self) -> str:
        """Take the last turn back; returns its question."""
        ...

    @property
    def system(self) -> str | None:
        """The system prompt."""
        ...

    def set_system(self, system: str | None) -> None:
        """Change the system prompt of the turns to come."""
        ...

    def change_model(self, spec: str, report: Report) -> None:
        """Let another model answer from now on; called in a worker thread."""
        ...

    def begin_anew(self) -> None:
        """Forget what was said; it stays in its session."""
        ...

    def sessions(self, text: str = "") -> Sequence[SessionInfo]:
        """The sessions that have a text in them, the newest first."""
        ...

    def go_to(self, name: str) -> str | None:
        """Go on with another session; returns the one that it had to copy, where that is open elsewhere."""
        ...

    def rename(self, name: str) -> str:
        """Call the session something else; returns its name."""
        ...

    def export(self, file: Path) -> None:
        """Write the session as Markdown, or as JSON where the file is named so."""
        ...
