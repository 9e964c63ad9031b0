"""The screen of the race: one lane a method, measured first and then played."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid
from textual.events import Resize
from textual.screen import ModalScreen

from lookahead_cli.tui.drawn import Drawn
from lookahead_cli.tui.explained import Explained
from lookahead_cli.tui.feed import Feed
from lookahead_cli.tui.help import HelpScreen
from lookahead_cli.tui.key_bar import KeyBar
from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.marks import DONE, PAUSED, PLAYING
from lookahead_cli.tui.panels.meter import progress_words
from lookahead_cli.tui.race.clock import RaceClock
from lookahead_cli.tui.race.lanes import Lane, Race
from lookahead_cli.tui.race.panels import LanePanel, LaneState, Phase, ResultPanel, result_texts
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.token_text import plain_text, truncate, visible_text

_NEEDED = ("escape", "question_mark", "space", "right", "left", "c", "p", "plus", "minus", "end")
_NARROW, _LOW, _NARROWEST_LANE = 100, 30, 38
_REDRAW_SECONDS = 1 / 30


class RaceScreen(ModalScreen[None]):
    """Measures the lanes that are not measured yet, and plays the race.

    Args:
        theme: The colours.
        race: The lanes.
        free: True once the run itself has ended and let go of the model.
        clock: Seconds that only grow.
        presenter: Begin with the presenter layout.
    """

    DEFAULT_CSS = """
    RaceScreen { layout: vertical; background: $background; overflow: hidden; }
    RaceScreen #race-title { height: 1; }
    RaceScreen #lanes { height: 1fr; layout: grid; }
    RaceScreen #lanes Panel { width: 100%; height: 100%; }
    RaceScreen #result { height: 3; }
    """
    EXPLAINS: ClassVar[Sequence[type[Explained]]] = (LanePanel, ResultPanel)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "play", "Play", id="race.play", tooltip="Hold the race, go on, or play it again"),
        Binding("left", "back", "Back", id="race.back", key_display="←", tooltip="One step back"),
        Binding(
            "right,full_stop",
            "forward",
            "Step",
            id="race.step",
            key_display="→",
            tooltip="One step of the lane that leads, or of every lane",
        ),
        Binding("home", "seek(0)", "Start", id="race.start", show=False, tooltip="To the start"),
        Binding("end", "seek(1)", "End", id="race.end", tooltip="To the end"),
        Binding(
            "c",
            "switch",
            "Clock",
            id="race.clock",
            tooltip="True speeds, or one step each at a time",
        ),
        Binding(
            "p",
            "present",
            "Present",
            id="race.present",
            tooltip="Large text for a lecture hall, or more text",
        ),
        Binding(
            "plus,equals_sign",
            "speed(1)",
            "Faster",
            id="race.faster",
            key_display="+",
            tooltip="A quicker clock",
        ),
        Binding("minus", "speed(-1)", "Slower", id="race.slower", key_display="-", tooltip="A slower clock"),
        Binding(
            "question_mark", "help", "Help", id="race.help", key_display="?", tooltip="What the race shows"
        ),
        Binding(
            "escape,g,q",
            "close",
            "Run",
            id="race.close",
            key_display="esc",
            tooltip="Back to the run; stops what is measured",
        ),
    ]

    def __init__(
        self,
        theme: Theme,
        race: Race,
        free: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
        *,
        presenter: bool = False,
    ) -> None:
        super().__init__()
        self.race = race
        self.clock: RaceClock | None = None
        self.title_line = Drawn(theme, "background", id="race-title")
        self.panels = [LanePanel(theme, lane) for lane in race.lanes]
        self.result_panel = ResultPanel(theme, id="result")
        self._present(presenter)
        self._grid = Grid(*self.panels, id="lanes")
        self._colours = theme
        self._free = free
        self._now = clock
        self._seen: object = None
        self._is_drawn = False
        self._result_rows = 0

    def compose(self) -> ComposeResult:
        """Everything is made once; later only lines change."""
        yield self.title_line
        yield self._grid
        yield self.result_panel
        yield KeyBar(self._colours, _NEEDED)

    def on_mount(self) -> None:
        """Begin to measure."""
        self.set_interval(_REDRAW_SECONDS, self.tick)

    def on_unmount(self) -> None:
        """However the screen is closed, a lane that is being measured is stopped."""
        self.race.cancel()

    def on_resize(self, event: Resize) -> None:
        """Find the lanes their places for the new size."""
        self.place_panels()
        self.call_after_refresh(self.draw)

    # What goes on.

    def tick(self) -> None:
        """Take what was measured, move the clock on, and draw where something changed."""
        changed = self.race.advance(self._free(), self._start)
        # The run itself is not this screen's to read: that it went on is seen in its view.
        own = self.race.own.view
        seen = (len(own.steps), own.progress, own.footer)
        changed, self._seen = changed or seen != self._seen, seen
        if self.clock is None and self.race.current is None and self._free():
            self.clock = self.race.clock()
            self.clock.play(self._now())
            changed = True
        if changed or not self._is_drawn or (self.clock is not None and self.clock.playing):
            self.draw()

    def _start(self, feed: Feed) -> None:
        self.app.run_worker(feed.drive, thread=True, exit_on_error=False, group="race")

    def draw(self) -> None:
        """Draw the lanes as far as they are."""
        self._is_drawn = self.size.width > 0
        now = self._now()
        if self.clock is not None and self.clock.playing and self.clock.over(now):
            self.clock.pause(now)
        heading, texts = self._texts(now)
        rows = self._rows(texts)
        if rows != self._result_rows:
            self._result_rows = self.result_panel.styles.height = rows
        for panel, state in zip(self.panels, self._states(now), strict=True):
            panel.show_lane(state)
        self.result_panel.show_texts(heading, texts, self.race.own.view)
        self.title_line.draw([self._title(now, self.size.width)])

    def _states(self, now: float) -> list[LaneState]:
        lanes, current = self.race.lanes, self.race.current
        if self.clock is None:
            expected = self.race.expected_tokens
            return [
                LaneState(
                    _phase(lane, lane is current),
                    lane.view.newest,
                    lane.view.emitted if lane.measured else expected,
                )
                for lane in lanes
            ]
        course, at = self.clock.course, self.clock.at(now)
        return [
            LaneState(
                "racing",
                done - 1,
                lane.view.emitted,
                place,
                done == len(lane.view.steps),
            )
            for lane, done, place in zip(lanes, course.done(at), course.places(at), strict=True)
        ]

    # Words.

    def _texts(self, now: float) -> tuple[str, list[tuple[str, str]]]:
        """What the panel below the lanes says: its heading, and paragraphs of a role and a text."""
        race = self.race
        if race.failure is not None:
            return "NO RACE", [("rejected", plain_text(str(race.failure)))]
        if self.clock is None:
            return ("READING" if race.recorded else "MEASURING"), [("bonus", self._measuring())]
        if self.clock.over(now):
            return "RESULT", self._results()
        if self.clock.stepwise:
            words = "all lanes advance one step at a time, whatever it costs; c plays true speeds"
            return "ONE STEP EACH", [("muted", words)]
        words = "every step takes the seconds that were measured for it; c plays one step each"
        return "TRUE SPEEDS", [("muted", words)]

    def _results(self) -> list[tuple[str, str]]:
        """What the race shows; in fewer words where the lanes would have no room for their texts."""
        texts = result_texts(self.race)
        if self.result_panel.rows(texts, self.size.width) > self._room(4):
            texts = result_texts(self.race, short=True)
        return texts

    def _measuring(self) -> str:
        lane = self.race.current
        if lane is None:
            return "the run is being finished; the race starts then"
        if lane.view.progress is not None:
            return f"{lane.name}, {progress_words(lane.view)}; the race starts when all are measured"
        done, total = lane.view.emitted, self.race.expected_tokens
        tokens = f"{done} of {total} tokens" if total else f"{done} tokens"
        if self.race.recorded:
            return f"reading {lane.name}: {tokens}; the race starts when all are read"
        return f"measuring {lane.name}: {tokens}, alone on the machine; the race starts when all are measured"

    def _title(self, now: float, width: int) -> Line:
        style = self.title_line.style
        words, role = self._clock_words(now)
        right = Line(width).add(words, style(role))
        header = self.race.own.view.header
        left = Line(max(0, width - right.width - 2)).add("RACE", style("accent"))
        if header is not None:
            kind = f" · {header.dtype} · {header.place}"
            model = visible_text(header.model).replace("␣", " ")
            left.add(" · ", style("muted"))
            left.add(truncate(model, max(8, left.room - left.width - len(kind))), style("foreground"))
            left.add(kind, style("muted"))
        return Line(width).add_line(left).pad(width - right.width, style("muted")).add_line(right)

    def _clock_words(self, now: float) -> tuple[str, str]:
        clock, lanes = self.clock, self.race.lanes
        if self.race.failure is not None:
            return "no race", "rejected"
        if clock is None:
            doing = "reading" if self.race.recorded else "measuring"
            current = self.race.current
            at = len(lanes) if current is None else sum(lane.measured for lane in lanes) + 1
            return f"{doing}, {at} of {len(lanes)}", "bonus"
        place, finish = clock.at(now), clock.course.finish
        if clock.stepwise:
            which, begun, end = "one step each", f"step {int(place)} of {finish:.0f}", f"{finish:.0f} steps"
        else:
            which, begun, end = "true speeds", f"{place:.1f} of {finish:.1f} s", f"{finish:.1f} s"
        if clock.over(now):
            return f"{which} {clock.speed:g}× · {end} · {DONE} over", "bonus"
        speeds = f"{which} {clock.speed:g}× · {begun}"
        return (f"{speeds} · {PLAYING}", "accepted") if clock.playing else (f"{speeds} · {PAUSED}", "free")

    # Places.

    def place_panels(self) -> None:
        """Side by side where there is room, else stacked."""
        width, height = self.size
        lanes = len(self.panels)
        stacked = width < _NARROW
        columns = 1 if stacked else max(1, min(lanes, width // _NARROWEST_LANE))
        if not stacked and lanes % columns and lanes % (columns - 1 or 1) == 0:
            columns -= 1  # Four lanes are two by two, not three and one.
        for panel in (*self.panels, self.result_panel):
            panel.compact = stacked or height < _LOW
        self._grid.styles.grid_size_columns = columns
        self._grid.styles.grid_columns = "1fr"
        self._grid.styles.grid_rows = "1fr"

    def _rows(self, texts: list[tuple[str, str]]) -> int:
        """Rows of the panel below: what it needs, and never so many that the lanes are lost."""
        return max(1, min(self.result_panel.rows(texts, self.size.width), self._room(3)))

    def _room(self, rows: int) -> int:
        """Rows below the lanes where each of them has so many."""
        columns = self._grid.styles.grid_size_columns or 1
        return self.size.height - 2 - rows * -(-len(self.panels) // columns)

    # Keys.

    def _move(self, move: Callable[[RaceClock, float], None]) -> None:
        """Move the clock, where the race has begun."""
        if self.clock is None:
            self.app.bell()
            return
        move(self.clock, self._now())
        self.draw()

    def action_play(self) -> None:
        """Hold the race, let it go on, or play it again."""
        self._move(lambda clock, now: (clock.pause if clock.playing else clock.play)(now))

    def action_back(self) -> None:
        """One step back."""
        self._move(RaceClock.back)

    def action_forward(self) -> None:
        """One step forward."""
        self._move(RaceClock.forward)

    def action_seek(self, end: int) -> None:
        """To the start, or to the end."""
        self._move(lambda clock, _: clock.seek(clock.course.finish if end else 0.0))

    def action_switch(self) -> None:
        """Take the other clock."""
        self._move(RaceClock.switch)

    def action_speed(self, by: int) -> None:
        """A quicker or a slower clock."""
        self._move(lambda clock, now: clock.change_speed(by, now))

    def action_present(self) -> None:
        """Show the figures in large letters, or more of the texts."""
        self._present(not self.panels[0].presenting)
        self.draw()

    def _present(self, presenting: bool) -> None:
        for panel in self.panels:
            panel.presenting = presenting

    def action_help(self) -> None:
        """Say what the race shows; it is held meanwhile."""
        if self.clock is not None:
            self.clock.pause(self._now())
            self.draw()
        self.app.push_screen(HelpScreen(self._colours, self.EXPLAINS, self.BINDINGS))

    def action_close(self) -> None:
        """Back to the run."""
        self.race.cancel()
        self.dismiss()


def _phase(lane: Lane, is_current: bool) -> Phase:
    """Where a lane stands before the race."""
    if lane.failure is not None:
        return "failed"
    return "measured" if lane.measured else "measuring" if is_current else "waiting"
