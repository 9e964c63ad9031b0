"""When the next step may run: paused, one at a time, or so many a second."""

from __future__ import annotations

import threading
import time

SPEEDS = (1.0, 2.0, 4.0, 8.0, 16.0, None)


class Pacer:
    """Holds the worker between two steps.

    Args:
        paused: Start paused.
        speed: Steps a second, None for no limit.
    """

    def __init__(self, *, paused: bool, speed: float | None) -> None:
        self._condition = threading.Condition()
        self._paused = paused
        self._speed = speed
        self._permits = 0
        self._released = False
        self._last = 0.0

    @property
    def paused(self) -> bool:
        """True while steps wait for `step` or `toggle`."""
        return self._paused

    @property
    def speed(self) -> float | None:
        """Steps a second, None for no limit."""
        return self._speed

    def toggle(self) -> None:
        """Pause, or go on."""
        with self._condition:
            self._paused = not self._paused
            self._condition.notify_all()

    def step(self) -> None:
        """Let one step run while paused."""
        with self._condition:
            self._permits += 1
            self._condition.notify_all()

    def change_speed(self, by: int) -> None:
        """Go to the next quicker (`by` 1) or slower (-1) speed."""
        with self._condition:
            if self._speed in SPEEDS:
                at = SPEEDS.index(self._speed) + by
            else:
                quicker = [
                    at for at, speed in enumerate(SPEEDS) if speed is None or speed > (self._speed or 0)
                ]
                at = quicker[0] if by > 0 else quicker[0] - 1
            self._speed = SPEEDS[max(0, min(at, len(SPEEDS) - 1))]
            self._condition.notify_all()

    def release(self) -> None:
        """Never hold the worker again: the run is being stopped."""
        with self._condition:
            self._released = True
            self._condition.notify_all()

    def wait(self) -> None:
        """Called by the worker before each step; returns when that step may run."""
        with self._condition:
            while not self._released:
                if self._paused:
                    if self._permits:
                        self._permits -= 1
                        break
                    self._condition.wait()
                    continue
                due = self._last + 1 / self._speed if self._speed else 0.0
                remaining = due - time.monotonic()
                if remaining <= 0:
                    break
                self._condition.wait(remaining)
            self._last = time.monotonic()
