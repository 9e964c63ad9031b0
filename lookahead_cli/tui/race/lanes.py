"""The lanes of a race: who is measured already, who is being measured, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from lookahead_cli.trace.events import TokenText
from lookahead_cli.tui.feed import Feed
from lookahead_cli.tui.race.clock import LaneTimes, RaceClock
from lookahead_cli.tui.race.result import LaneResult, compare
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.source import Rival


@dataclass
class Lane:
    """A run in a race.

    Attributes:
        method: Its decoding method.
        name: Method and settings in a few words.
        view: Its steps, as far as they came.
        rival: How it is run; None for the run that the race began from.
        failure: Why it could not be measured.
    """

    method: str
    name: str
    view: RunView = field(default_factory=RunView)
    rival: Rival | None = None
    failure: BaseException | None = None

    @property
    def measured(self) -> bool:
        """True once its last step came."""
        return self.view.footer is not None

    def times(self) -> LaneTimes:
        """What a clock needs of it."""
        steps = self.view.steps
        return LaneTimes([step.seconds.total for step in steps], [len(step.accepted) for step in steps])


class Race:
    """A run and its rivals, who are measured one after another: one model, one processor.

    Args:
        view: The run.
        name: Its method and settings in a few words.
        rivals: Who races beside it.
        recorded: True where the rivals are recordings, which are only read.
        kept: Lanes of earlier races by their rival's key; those of this one are put there too.

    Attributes:
        lanes: Greedy first where it takes part, the run itself last of the others.
    """

    def __init__(
        self,
        view: RunView,
        name: str,
        rivals: Sequence[Rival],
        *,
        recorded: bool,
        kept: dict[Hashable, Lane],
    ) -> None:
        self.recorded = recorded
        own = Lane(view.method, name, view)
        others = [kept.get(rival.key) or Lane(rival.method, rival.name, rival=rival) for rival in rivals]
        self.lanes = sorted([*others, own], key=lambda lane: lane.method != "greedy")
        self._own = own
        self._kept = kept
        self._feed: Feed | None = None
        self._current: Lane | None = None

    @property
    def own(self) -> Lane:
        """The run that the race began from."""
        return self._own

    @property
    def current(self) -> Lane | None:
        """The lane that is being measured, None once all are."""
        if not self._own.measured:
            return self._own
        return next((lane for lane in self.lanes if not lane.measured), None)

    @property
    def failure(self) -> BaseException | None:
        """Why a lane could not be measured, None where nothing went wrong."""
        return next((lane.failure for lane in self.lanes if lane.failure is not None), None)

    @property
    def expected_tokens(self) -> int | None:
        """Tokens that a lane will have, as far as one knows before its end."""
        if self._own.view.footer is not None:
            return len(self._own.view.footer.output_ids)
        return self._own.view.setting("max_new_tokens")

    def advance(self, free: bool, start: Callable[[Feed], None]) -> bool:
        """Take what came, and begin with the next lane where the model is free.

        Args:
            free: True once the run itself has ended and let go of the model.
            start: Drives a feed in a worker thread.

        Returns:
            True where something changed.
        """
        if self._feed is not None:
            return self._take(self._feed)
        lane = self.current if free and self.failure is None else None
        if lane is None or lane.rival is None:
            return False
        lane.view = RunView()
        self._current, self._feed = lane, Feed(lane.rival.source, None, lambda: None)
        start(self._feed)
        return True

    def _take(self, feed: Feed) -> bool:
        assert self._current is not None
        lane, finished = self._current, feed.finished
        events = feed.take()
        for event in events:
            lane.view.take(event)
        if finished:
            lane.failure, self._feed, self._current = feed.failure, None, None
            if lane.measured and lane.rival is not None and not feed.cancelled:
                self._kept[lane.rival.key] = lane
        return finished or bool(events)

    def cancel(self) -> None:
        """Stop what is being measured within one step, and forget it: a lane is measured as a whole."""
        if self._feed is not None:
            self._feed.cancel()

    def clock(self) -> RaceClock:
        """A clock at the start of the race; every lane is measured."""
        return RaceClock([lane.times() for lane in self.lanes])

    def token(self, token: int) -> TokenText:
        """How a token reads, as the lane that knows it has it."""
        known = (lane.view.tokens[token] for lane in self.lanes if token in lane.view.tokens)
        return next(known, TokenText(f"#{token}", special=True))

    @property
    def reference(self) -> Lane:
        """The lane that the others are compared with: greedy, or the first where it takes no part."""
        return self.lanes[0]

    @property
    def reference_name(self) -> str:
        """That lane in a word or two."""
        return "greedy" if self.reference.method == "greedy" else self.reference.name

    def results(self) -> list[LaneResult]:
        """Every other lane beside the one that they are compared with; empty where they have no ends."""
        reference, name = self.reference, self.reference_name
        others = [lane for lane in self.lanes if lane is not reference]
        found = [compare(lane.name, lane.view, name, reference.view) for lane in others]
        return [result for result in found if result is not None]
