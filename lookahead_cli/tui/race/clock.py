"""The clock of a race: how far each lane is at which time, by one of two clocks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""How many times as quick as it was measured."""

STEPS_A_SECOND = 4.0
"""Of each lane, where all advance one step at a time, at speed 1."""


@dataclass(frozen=True)
class LaneTimes:
    """What the clock needs of a lane.

    Attributes:
        seconds: Seconds of each step.
        tokens: Tokens that each step emitted.
    """

    seconds: Sequence[float]
    tokens: Sequence[int]

    @cached_property
    def emitted(self) -> tuple[int, ...]:
        """Tokens after so many steps, 0 first."""
        return (0, *accumulate(self.tokens))


class Course:
    """A whole race by one clock: when each lane ends each of its steps.

    Args:
        lanes: The lanes.
        ends: A time for each step of each lane, growing.
    """

    def __init__(self, lanes: Sequence[LaneTimes], ends: Sequence[Sequence[float]]) -> None:
        self._lanes = lanes
        self.ends = ends

    @cached_property
    def finish(self) -> float:
        """When the last lane is done."""
        return max((ends[-1] for ends in self.ends if ends), default=0.0)

    def done(self, at: float) -> list[int]:
        """Steps that each lane has ended at time `at`."""
        return [bisect_right(ends, at) for ends in self.ends]

    def emitted(self, at: float) -> list[int]:
        """Tokens of each lane at time `at`."""
        return [lane.emitted[done] for lane, done in zip(self._lanes, self.done(at), strict=True)]

    def leader(self, at: float, *, running: bool) -> int | None:
        """The lane with the most tokens at `at`, of those that are not done where `running`, or None."""
        emitted = self.emitted(at)
        chosen = [
            lane
            for lane, done in enumerate(self.done(at))
            if not running or done < len(self._lanes[lane].tokens)
        ]
        return max(chosen, key=lambda lane: emitted[lane], default=None)

    @cached_property
    def stops(self) -> tuple[float, ...]:
        """The start, and each time at which the lane that leads, of those still running, ends a step."""
        stops = [0.0]
        while (leader := self.leader(stops[-1], running=True)) is not None:
            stops.append(self.ends[leader][bisect_right(self.ends[leader], stops[-1])])
        return tuple(stops)

    def places(self, at: float) -> list[int | None]:
        """The place of each lane at `at`, from 1; level lanes share one, None before a first token."""
        ranks = [
            (0, self.ends[lane][-1]) if done and done == len(self._lanes[lane].tokens) else (1, -emitted)
            for lane, (done, emitted) in enumerate(zip(self.done(at), self.emitted(at), strict=True))
        ]
        return [None if rank == (1, 0) else 1 + sum(other < rank for other in ranks) for rank in ranks]


class RaceClock:
    """Plays a race, by the seconds that each step took, or one step of every lane at a time.

    Args:
        lanes: The lanes.
    """

    def __init__(self, lanes: Sequence[LaneTimes]) -> None:
        self._lanes = lanes
        self._measured = Course(lanes, [list(accumulate(lane.seconds)) for lane in lanes])
        self._stepwise = Course(lanes, [range(1, len(lane.tokens) + 1) for lane in lanes])
        self.course = self._measured
        self.speed = 1.0
        self.playing = False
        self._from = 0.0
        self._since = 0.0

    @property
    def stepwise(self) -> bool:
        """True where all lanes advance one step at a time."""
        return self.course is self._stepwise

    @property
    def rate(self) -> float:
        """Seconds of the race a second, or steps of each lane where all advance one at a time."""
        return self.speed * (STEPS_A_SECOND if self.stepwise else 1.0)

    def at(self, now: float) -> float:
        """Where the race is, in seconds or in steps of each lane, at most its finish."""
        gone = (now - self._since) * self.rate if self.playing else 0.0
        return min(self.course.finish, self._from + gone)

    def over(self, now: float) -> bool:
        """True once every lane is done."""
        return self.at(now) >= self.course.finish

    def shown(self, now: float) -> list[int]:
        """Index of the last step that each lane has ended, -1 before its first."""
        return [done - 1 for done in self.course.done(self.at(now))]

    def play(self, now: float) -> None:
        """Go on; from the start where the race is over."""
        self._from, self._since = (0.0 if self.over(now) else self.at(now)), now
        self.playing = True

    def pause(self, now: float) -> None:
        """Stand still."""
        self.seek(self.at(now))

    def seek(self, at: float) -> None:
        """Stand still at a time of the race."""
        self._from = max(0.0, min(at, self.course.finish))
        self.playing = False

    def forward(self, now: float) -> None:
        """Stand still where the leading lane, or every lane, has one step more."""
        stops = self.course.stops
        self.seek(stops[min(bisect_right(stops, self.at(now)), len(stops) - 1)])

    def back(self, now: float) -> None:
        """Stand still one step of the leading lane, or of every lane, before."""
        stops = self.course.stops
        self.seek(stops[max(0, bisect_left(stops, self.at(now)) - 1)])

    def change_speed(self, by: int, now: float) -> None:
        """Go to the next quicker (`by` 1) or slower (-1) speed."""
        self._from, self._since = self.at(now), now
        self.speed = SPEEDS[max(0, min(SPEEDS.index(self.speed) + by, len(SPEEDS) - 1))]

    def switch(self, now: float) -> None:
        """Take the other clock; the lane that leads stays at the step that it has reached."""
        at, before = self.at(now), self.course
        after = self._measured if self.stepwise else self._stepwise
        self.course = after
        self._since = now
        if at >= before.finish:
            self._from = after.finish
            return
        leader = before.leader(at, running=True)
        done = 0 if leader is None else before.done(at)[leader]
        self._from = 0.0 if leader is None or not done else after.ends[leader][done - 1]
