"""When the next step comes: held, one at a time, so many a second, or as fast as it can."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

SPEEDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, math.inf)
"""Steps a second; the last is no limit."""


def next_speed(speed: float, by: int) -> float:
    """The next quicker (`by` 1) or slower (-1) speed."""
    if by > 0:
        return next((quicker for quicker in SPEEDS if quicker > speed), math.inf)
    return next((slower for slower in reversed(SPEEDS) if slower < speed), SPEEDS[0])


class Pacer:
    """Holds the worker of a live run between two steps.

    Args:
        paused: Start paused.
        speed: Steps a second, `math.inf` for no limit.
        clock: Seconds that only grow.
    """

    def __init__(
        self, *, paused: bool, speed: float = math.inf, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._condition = threading.Condition()
        self._paused = paused
        self._speed = speed
        self._clock = clock
        self._permits = 0
        self._seeking = False
        self._released = False
        self._hurried = False
        self._last = -math.inf

    @property
    def paused(self) -> bool:
        """True while steps wait for `step` or `play`."""
        return self._paused and not self._seeking

    @property
    def speed(self) -> float:
        """Steps a second, `math.inf` for no limit."""
        return self._speed

    def pause(self) -> None:
        """Hold the run before its next step."""
        with self._condition:
            self._paused, self._seeking, self._permits = True, False, 0

    def play(self) -> None:
        """Let the run go on."""
        with self._condition:
            self._paused = self._seeking = False
            self._condition.notify_all()

    def step(self) -> None:
        """Let one step run while paused."""
        with self._condition:
            self._permits += 1
            self._condition.notify_all()

    def seek_multi(self) -> None:
        """Let the run go on until a step emits several tokens, and hold it there."""
        with self._condition:
            self._paused = self._seeking = True
            self._condition.notify_all()

    def change_speed(self, by: int) -> None:
        """Go to the next quicker (`by` 1) or slower (-1) speed."""
        with self._condition:
            self._speed = next_speed(self._speed, by)
            self._condition.notify_all()

    def release(self) -> None:
        """Never hold the worker again: the run is being stopped."""
        with self._condition:
            self._released = True
            self._condition.notify_all()

    def hurry(self, hurried: bool) -> None:
        """Let the run go on as fast as it can, or, with False, as it was before."""
        with self._condition:
            self._hurried = hurried
            self._condition.notify_all()

    def wait(self, emitted: int = 0) -> None:
        """Called by the worker between two steps; returns when the next one may run.

        Args:
            emitted: Tokens of the step before.
        """
        with self._condition:
            if emitted > 1:
                self._seeking = False
            while not (self._released or self._hurried):
                if self.paused:
                    if self._permits:
                        self._permits -= 1
                        break
                    self._condition.wait()
                    continue
                remaining = self._last + 1 / self._speed - self._clock()
                if remaining <= 0:
                    break
                self._condition.wait(remaining)
            self._last = self._clock()


class Player:
    """Plays a recorded run: says which step to show at which time.

    Args:
        paused: Start paused.
        speed: Steps a second, `math.inf` for straight to the end.
    """

    def __init__(self, *, paused: bool, speed: float) -> None:
        self.paused = paused
        self.speed = speed
        self._from = 0
        self._since: float | None = None

    def restart(self, shown: int, now: float) -> None:
        """Go on from step `shown`, which is on the screen at `now`."""
        self._from, self._since = shown, now

    def change_speed(self, by: int, shown: int, now: float) -> None:
        """Go to the next quicker (`by` 1) or slower (-1) speed."""
        self.speed = next_speed(self.speed, by)
        self.restart(shown, now)

    def due(self, shown: int, newest: int, now: float) -> int:
        """The step to show at `now`, not past the newest one."""
        if self.paused:
            self._since = None
            return shown
        if self._since is None or shown < self._from:
            self.restart(shown, now)
        assert self._since is not None
        if self.speed == math.inf:
            return newest
        due = self._from + int((now - self._since) * self.speed)
        if due > newest:
            # The next step is not read yet, or there is none: time does not pile up.
            self.restart(newest, now)
        return max(shown, min(due, newest))
