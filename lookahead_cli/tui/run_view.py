"""What is known of a run so far, and the running figures at each of its steps."""

from __future__ import annotations

from dataclasses import dataclass, field

from lookahead_cli.decoding.records import Step
from lookahead_cli.trace.events import Footer, Header, StepEvent, TokenText


@dataclass(frozen=True, slots=True)
class Totals:
    """Running figures after a step.

    Attributes:
        steps: Steps so far.
        emitted: Tokens so far.
        nodes: Nodes fed so far.
        merged: Nodes saved by merging so far.
        tried: Steps that had a candidate.
        hits: Steps in which a candidate's first token matched.
        seconds: Decode seconds so far.
    """

    steps: int = 0
    emitted: int = 0
    nodes: int = 0
    merged: int = 0
    tried: int = 0
    hits: int = 0
    seconds: float = 0.0

    @property
    def compression_ratio(self) -> float:
        """Emitted tokens / steps, 0.0 before the first step."""
        return self.emitted / self.steps if self.steps else 0.0

    def after(self, step: Step) -> Totals:
        """The figures with one more step."""
        return Totals(
            steps=self.steps + 1,
            emitted=self.emitted + len(step.accepted),
            nodes=self.nodes + len(step.nodes),
            merged=self.merged + step.merged,
            tried=self.tried + bool(step.candidates),
            hits=self.hits + any(candidate.matched for candidate in step.candidates),
            seconds=self.seconds + step.seconds.total,
        )


@dataclass(slots=True)
class RunView:
    """A run as far as it was seen, and which step is looked at.

    Attributes:
        header: None before the prompt was fed.
        steps: Every step so far.
        totals: The running figures after each step.
        tokens: Text of every token id seen.
        footer: None while it runs.
        shown: Index of the step looked at, -1 before the first.
        following: True while the newest step is looked at.
    """

    header: Header | None = None
    steps: list[Step] = field(default_factory=list)
    totals: list[Totals] = field(default_factory=list)
    tokens: dict[int, TokenText] = field(default_factory=dict)
    footer: Footer | None = None
    shown: int = -1
    following: bool = True

    def take(self, event: Header | StepEvent | Footer) -> None:
        """Take one more event in."""
        self.tokens.update(event.tokens)
        if isinstance(event, Header):
            self.header = event
        elif isinstance(event, StepEvent):
            before = self.totals[-1] if self.totals else Totals()
            self.totals.append(before.after(event.step))
            self.steps.append(event.step)
            if self.following:
                self.shown = len(self.steps) - 1
        else:
            self.footer = event

    def look_at(self, index: int) -> None:
        """Look at step `index`, or the nearest there is."""
        self.shown = max(-1, min(index, len(self.steps) - 1))
        self.following = self.shown == len(self.steps) - 1

    @property
    def step(self) -> Step | None:
        """The step looked at."""
        return self.steps[self.shown] if 0 <= self.shown < len(self.steps) else None

    @property
    def total(self) -> Totals:
        """The running figures after the step looked at."""
        return self.totals[self.shown] if 0 <= self.shown < len(self.totals) else Totals()

    def token(self, token: int | None) -> TokenText | None:
        """How a token reads, None for no token."""
        if token is None:
            return None
        return self.tokens.get(token) or TokenText(f"<{token}>", special=True)
