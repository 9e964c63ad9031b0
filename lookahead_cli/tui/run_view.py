"""What is known of a run so far, and the running figures at each of its steps."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from lookahead_cli.decoding.records import Accepted, Step
from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent, TokenText


def credit_of(token: Accepted) -> str:
    """Who gets the credit for a free token, such as `prompt`, `window n-grams` or `window cells`."""
    origin = token.origin
    if origin is None:
        return "the model"
    if origin.kind == "pool":
        return f"{origin.source} n-grams" if origin.source == "window" else str(origin.source)
    return "window cells" if origin.kind == "window" else f"{origin.kind} guesses"


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
        histogram: Entry k - 1 counts the steps that emitted k tokens.
        credits: Tokens that came free, all but each step's last, by who guessed them.
    """

    steps: int = 0
    emitted: int = 0
    nodes: int = 0
    merged: int = 0
    tried: int = 0
    hits: int = 0
    seconds: float = 0.0
    histogram: tuple[int, ...] = ()
    credits: Mapping[str, int] = field(default_factory=dict)

    @property
    def compression_ratio(self) -> float:
        """Emitted tokens / steps, 0.0 before the first step."""
        return self.emitted / self.steps if self.steps else 0.0

    def after(self, step: Step) -> Totals:
        """The figures with one more step."""
        count = len(step.accepted)
        bars = [*self.histogram, *[0] * (count - len(self.histogram))]
        bars[count - 1] += 1
        guessed = Counter(credit_of(token) for token in step.accepted[:-1])
        return Totals(
            steps=self.steps + 1,
            emitted=self.emitted + count,
            nodes=self.nodes + len(step.nodes),
            merged=self.merged + step.merged,
            tried=self.tried + bool(step.candidates),
            hits=self.hits + any(candidate.matched for candidate in step.candidates),
            seconds=self.seconds + step.seconds.total,
            histogram=tuple(bars),
            credits={**self.credits, **{who: self.credits.get(who, 0) + n for who, n in guessed.items()}}
            if guessed
            else self.credits,
        )


@dataclass(slots=True)
class RunView:
    """A run as far as it was seen, and which step is looked at.

    Attributes:
        recorded: True for a run that is over and only shown again; its newest step is not followed.
        header: None before the prompt was fed.
        steps: Every step so far.
        totals: The running figures after each step.
        tokens: Text of every token id seen.
        output: Every token id emitted so far.
        footer: None while it runs.
        progress: Work beside the steps that goes on now, such as the greedy run.
        shown: Index of the step looked at, -1 before the first.
        following: True while the newest step is looked at.
    """

    recorded: bool = False
    header: Header | None = None
    steps: list[Step] = field(default_factory=list)
    totals: list[Totals] = field(default_factory=list)
    tokens: dict[int, TokenText] = field(default_factory=dict)
    output: list[int] = field(default_factory=list)
    footer: Footer | None = None
    progress: Progress | None = None
    shown: int = -1
    following: bool = True

    def take(self, event: Header | StepEvent | Footer | Progress) -> None:
        """Take one more event in; a new header starts a new run."""
        if isinstance(event, Progress):
            self.progress = event
            return
        self.progress = None
        if isinstance(event, Header):
            self._start(event)
        elif isinstance(event, StepEvent):
            before = self.totals[-1] if self.totals else Totals()
            self.totals.append(before.after(event.step))
            self.steps.append(event.step)
            self.output += event.step.token_ids
            if self.following and not self.recorded:
                self.shown = len(self.steps) - 1
        else:
            self.footer = event
        self.tokens.update(event.tokens)

    def _start(self, header: Header) -> None:
        self.header = header
        self.footer = None
        self.steps = []
        self.output = []
        self.totals = []
        self.shown = -1
        self.following = True

    def look_at(self, index: int) -> None:
        """Look at step `index`, or the nearest there is."""
        self.shown = max(min(0, self.newest), min(index, self.newest))
        self.following = self.shown == self.newest

    @property
    def newest(self) -> int:
        """Index of the newest step, -1 before the first."""
        return len(self.steps) - 1

    @property
    def emitted(self) -> int:
        """Tokens of all steps so far."""
        return self.totals[-1].emitted if self.totals else 0

    @property
    def at_end(self) -> bool:
        """True where the run is over and its last step is looked at."""
        return self.footer is not None and self.shown == self.newest

    @property
    def step(self) -> Step | None:
        """The step looked at."""
        return self.steps[self.shown] if 0 <= self.shown < len(self.steps) else None

    @property
    def total(self) -> Totals:
        """The running figures after the step looked at."""
        return self.totals[self.shown] if 0 <= self.shown < len(self.totals) else Totals()

    @property
    def method(self) -> str:
        """The decoding method, empty before the header."""
        return "" if self.header is None else str(self.header.config.get("method", ""))

    def setting(self, name: str) -> int | None:
        """A setting that is a number, such as `window_size`."""
        value = None if self.header is None else self.header.config.get(name)
        return value if isinstance(value, int) else None

    @property
    def window_rows(self) -> int:
        """Rows of the window that the method keeps, 0 for a method without one."""
        if self.method == "jacobi":
            return 1
        sources = () if self.header is None else self.header.config.get("sources", ("window",))
        if self.method == "lookahead-reference" or (self.method == "lookahead" and "window" in sources):
            return (self.setting("ngram_size") or 2) - 1
        return 0

    def said(self, step: Step, distance: int) -> int | None:
        """The token that the text has `distance` places after the step's current one, None so far."""
        place = step.emitted_before + distance - 1
        return self.output[place] if 0 <= place < len(self.output) else None

    def next_multi(self) -> int | None:
        """Index of the next step after the shown one that emitted several tokens."""
        later = range(self.shown + 1, len(self.steps))
        return next((index for index in later if len(self.steps[index].accepted) > 1), None)

    def previous_multi(self) -> int | None:
        """Index of the last step before the shown one that emitted several tokens."""
        earlier = range(self.shown - 1, -1, -1)
        return next((index for index in earlier if len(self.steps[index].accepted) > 1), None)

    def find(self, text: str) -> int | None:
        """Index of the next step, from the shown one on and then from the first, in which `text` begins.

        Upper and lower case are the same; the text may span steps.
        """
        pieces = ["".join(self.tokens[token].text for token in step.token_ids).lower() for step in self.steps]
        begins = [0, *accumulate(map(len, pieces))]
        output, wanted = "".join(pieces), text.lower()
        at = output.find(wanted, begins[self.shown + 1])
        if at < 0:
            at = output.find(wanted)
        return None if at < 0 or not wanted else bisect_right(begins, at) - 1

    def token(self, token: int | None) -> TokenText | None:
        """How a token reads, None for no token."""
        if token is None:
            return None
        return self.tokens.get(token) or TokenText(f"#{token}", special=True)
