"""Looking at a run: the keys that move through it and into it, and when its screen is drawn."""

from __future__ import annotations

import math
import time

from textual import on
from textual.dom import DOMNode
from textual.timer import Timer

from lookahead_cli.tui.playback import Playback
from lookahead_cli.tui.run_screen import RunScreen
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.search import SearchScreen
from lookahead_cli.tui.step_screen import StepScreen
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.timeline import Timeline
from lookahead_cli.tui.title import PlayState, speed_words
from lookahead_cli.tui.token_text import plain_text

REDRAWS_A_SECOND = 30


class RunControl(DOMNode):
    """What a program and a screen that show a run have in common; it stands behind their own base class.

    Attributes:
        view: The run.
        playback: Moves through it.
        run_screen: Shows it.
        colours: The colours.
        redraws: How often it was drawn.
        redraw_seconds: How long that took.
    """

    view: RunView
    playback: Playback
    run_screen: RunScreen
    colours: Theme
    redraws = 0
    redraw_seconds = 0.0
    _last_redraw = -math.inf
    _redraw_timer: Timer | None = None
    _play_timer: Timer | None = None
    _searched = ""

    @property
    def in_front(self) -> bool:
        """True where nothing is opened on the run."""
        return self.app.screen is self.run_screen

    # Redraws.

    def want_redraw(self) -> None:
        """Draw soon: at once, or when the last redraw is long enough ago."""
        if self._redraw_timer is not None:
            return  # It is drawn soon enough.
        left = self._last_redraw + 1 / REDRAWS_A_SECOND - time.monotonic()
        if left <= 0:
            self._redraw()
        else:
            self._redraw_timer = self.set_timer(left, self._redraw)

    def _redraw(self) -> None:
        self._redraw_timer = None
        if self._play_timer is not None:
            self._play_timer.stop()
        now = self._last_redraw = time.monotonic()
        self.playback.advance()
        self.run_screen.draw(self.play_state())
        self.redraws += 1
        self.redraw_seconds += time.monotonic() - now
        self.after_redraw()

    def after_redraw(self) -> None:
        """A recording that is played goes on, and is held at its end."""
        if self.playback.hold_at_end():
            self.run_screen.draw(self.play_state())
        elif self.playback.playing and self.view.steps:
            wait = 1 / min(self.playback.speed, REDRAWS_A_SECOND)
            # Apart from the other timer: at a slow speed a key does not wait for the next step.
            self._play_timer = self.set_timer(wait, self.want_redraw)

    def play_state(self) -> PlayState:
        """How the run moves on."""
        return self.playback.state()

    # Keys.

    def action_pause(self) -> None:
        """Hold the run, or let it go on; a recording at its end starts again."""
        self.playback.pause()
        self.want_redraw()

    def go(self, index: int) -> None:
        """Look at a recorded step; a live run goes on or stays held, as it was."""
        self.playback.go(index)
        self.want_redraw()

    def action_earlier(self) -> None:
        """Look at the step before."""
        self.go(self.view.shown - 1)

    def action_forward(self) -> None:
        """Look at the next step, or let the next one run."""
        self.playback.forward()
        self.want_redraw()

    def action_first(self) -> None:
        """Look at the first step."""
        self.go(0)

    def action_last(self) -> None:
        """Follow the newest step."""
        self.go(self.view.newest)

    def action_next_multi(self) -> None:
        """Look at the next step that emitted several tokens, or run on until there is one."""
        self._after_jump(self.playback.next_multi())

    def action_previous_multi(self) -> None:
        """Look at the step before that emitted several tokens."""
        self._after_jump(self.playback.previous_multi())

    def _after_jump(self, found: bool) -> None:
        if not found:
            self.app.bell()
        self.want_redraw()

    def action_speed(self, by: int) -> None:
        """More or fewer steps a second."""
        self.playback.change_speed(by)
        state = self.play_state()
        if state.paused:
            self.app.notify(f"{speed_words(state.speed)}, once it goes on", timeout=2, markup=False)
        self.want_redraw()

    def action_inside(self, what: str) -> None:
        """Look at the step from inside: its mask, or its tree."""
        if self.view.steps and self.in_front:
            self.app.push_screen(StepScreen(self.colours, self.view, what), lambda _: self.want_redraw())

    def action_search(self) -> None:
        """Ask for a text, and look at the next step in which it begins."""
        if self.view.steps and self.in_front:
            self.app.push_screen(SearchScreen(self._searched), self._found)

    def _found(self, text: str | None) -> None:
        if text is None:
            return
        self._searched = text
        found = self.view.find(text)
        if found is None:
            self.app.notify(
                f"The output does not say '{plain_text(text)}'.", severity="warning", markup=False
            )
        else:
            self.go(found)

    def action_rendering(self) -> None:
        """Show the output as it reads, or with whitespace and free tokens marked."""
        self.run_screen.accepted_panel.turn_rendering()
        self.want_redraw()

    def action_present(self) -> None:
        """Show the presenter layout, or the panels."""
        self.run_screen.present(not self.run_screen.presenting)
        self.call_after_refresh(self.want_redraw)

    def action_zoom(self, number: int | None = None) -> None:
        """Give one panel the whole screen, or show all four."""
        self.run_screen.zoom(number)
        self.want_redraw()

    @on(Timeline.Chosen)
    def look_at_chosen(self, event: Timeline.Chosen) -> None:
        """Look at the step that was pointed at."""
        self.go(event.index)
