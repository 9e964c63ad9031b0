"""How one moves through a run: held or going on, forwards and backwards, live or recorded."""

from __future__ import annotations

import math
import time

from lookahead_cli.tui.pacing import Pacer, Player
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.title import PlayState

REPLAY_SPEED = 4.0


class Playback:
    """Moves a view through its run.

    A live run is held between its steps; a recorded one is read ahead, and played.

    Args:
        view: The run.
        paused: Start paused.
        speed: Steps a second, `math.inf` for no limit; None for no limit on a live run, and for a speed
            that can be watched on a recorded one.

    Attributes:
        pacer: Holds the worker of a live run; a recorded one is only read, and never waits for it.
    """

    def __init__(self, view: RunView, *, paused: bool = False, speed: float | None = None) -> None:
        pace = (REPLAY_SPEED if view.recorded else math.inf) if speed is None else speed
        self.pacer = Pacer(paused=paused, speed=pace)
        self._player = Player(paused=paused, speed=pace)
        self._view = view

    def state(self, *, stopping: bool = False) -> PlayState:
        """How the run moves on."""
        moving = self._player if self._view.recorded else self.pacer
        return PlayState(moving.paused, moving.speed, stopping)

    def begin_again(self) -> None:
        """The same run is decoded anew, held or not as it was, at the same speed."""
        self.pacer = Pacer(paused=self.pacer.paused, speed=self.pacer.speed)

    def advance(self) -> None:
        """Look at the step of a recording that is due now."""
        view = self._view
        if view.recorded and view.steps:
            view.look_at(self._player.due(view.shown, view.newest, time.monotonic()))

    def hold_at_end(self) -> bool:
        """Hold a recording that was played to its end; True where it has just been held."""
        ended = self.playing and self._view.at_end
        if ended:
            self._player.paused = True
        return ended

    @property
    def playing(self) -> bool:
        """True while a recording is played."""
        return self._view.recorded and not self._player.paused

    @property
    def speed(self) -> float:
        """Steps a second, `math.inf` for no limit."""
        return self.state().speed

    def go(self, index: int) -> None:
        """Look at a recorded step; a live run goes on or stays held, as it was."""
        if self._view.recorded:
            self._player.paused = True
        self._view.look_at(index)

    def pause(self) -> None:
        """Hold the run, or let it go on; a recording at its end starts again."""
        view = self._view
        if view.recorded:
            if self._player.paused and view.at_end:
                view.look_at(0)
            self._player.paused = not self._player.paused
            self._player.restart(view.shown, time.monotonic())
        elif self.pacer.paused:
            self.pacer.play()
        else:
            self.pacer.pause()

    def forward(self) -> None:
        """Look at the next step, or let the next one run."""
        view = self._view
        if view.recorded or view.shown < view.newest:
            self.go(view.shown + 1)
        elif self.pacer.paused:
            self.pacer.step()
        else:
            self.pacer.pause()

    def next_multi(self) -> bool:
        """Look at the next step that emitted several tokens, or run on until there is one; False for none."""
        view = self._view
        found = view.next_multi()
        if found is not None:
            self.go(found)
        elif view.recorded or view.footer is not None:
            return False
        else:
            self.pacer.seek_multi()
            self.go(view.newest)
        return True

    def previous_multi(self) -> bool:
        """Look at the step before that emitted several tokens; False for none."""
        found = self._view.previous_multi()
        if found is not None:
            self.go(found)
        return found is not None

    def change_speed(self, by: int) -> None:
        """Go to the next quicker (`by` 1) or slower (-1) speed."""
        self.pacer.change_speed(by)
        self._player.change_speed(by, self._view.shown, time.monotonic())
