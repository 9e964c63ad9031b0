"""The screen of a stop: its text, and the panels that it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import Resize
from textual.screen import Screen

from lookahead_cli.tui.explained import Explained
from lookahead_cli.tui.key_bar import KeyBar
from lookahead_cli.tui.panels import Panel
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.tour.explore import ExploreScreen
from lookahead_cli.tui.tour.lesson import STOPS, PanelName, Stop
from lookahead_cli.tui.tour.lines import LessonText, StopsLine, TourTitle
from lookahead_cli.tui.tour.pictures import KINDS, point
from lookahead_cli.tui.tour.pointing import Pointer
from lookahead_cli.tui.tour.room import Rows, rows_of
from lookahead_cli.tui.tour.traces import TourRuns

NARROW, LOW = 100, 30
_MASK_NARROW = 150
_AROUND = 3  # Rows of the title, the stops and the keys.
_TEXT_CELLS = (38, 64)
_LONGEST_LINE = 104

TOUR_NEEDED = ("right", "left", "question_mark", "q", "o", "down", "up")
"""The keys, the most needed first: a narrow key bar leaves out the last ones."""

TOUR_KEYS: list[BindingType] = [
    Binding("right,space,enter", "go(1)", "Next", id="tour.next", key_display="→", tooltip="The next stop"),
    Binding("left,backspace", "go(-1)", "Back", id="tour.back", key_display="←", tooltip="The stop before"),
    Binding("home", "stop(0)", "First", id="tour.first", show=False, tooltip="The first stop"),
    Binding("end", "stop(-1)", "Last", id="tour.last", show=False, tooltip="The last stop"),
    Binding(
        "up,comma", "step(-1)", "Step before", id="tour.before", key_display="↑", tooltip="The step before"
    ),
    Binding(
        "down,full_stop", "step(1)", "Step after", id="tour.after", key_display="↓", tooltip="The step after"
    ),
    Binding(
        "o", "explore", "Explore", id="tour.explore", tooltip="The whole screen of this run; esc comes back"
    ),
]


class TourScreen(Screen[None]):
    """Shows a stop.

    Args:
        theme: The colours.
        runs: The recorded runs.
        first: The stop to begin with, from 0.

    Attributes:
        index: The stop that is shown, from 0.
        view: Its run.
        panels: All panels, by name; a stop shows some of them.
    """

    DEFAULT_CSS = """
    TourScreen {
        layout: vertical; background: $background; overflow: hidden;
        #body { height: 1fr; layout: horizontal; }
        #panels { height: 100%; width: 1fr; layout: vertical; }
        #panels Panel { width: 100%; }
        #lesson { height: 100%; }
        &.-stacked #body { layout: vertical; }
        &.-stacked #panels { height: 1fr; width: 100%; }
        &.-stacked #lesson { width: 100%; }
    }
    """
    EXPLAINS: ClassVar[Sequence[type[Explained]]] = tuple(KINDS.values())
    BINDINGS: ClassVar[list[BindingType]] = TOUR_KEYS

    def __init__(self, theme: Theme, runs: TourRuns, first: int = 0) -> None:
        super().__init__()
        self.title_line = TourTitle(theme, id="title")
        self.stops_line = StopsLine(theme, id="stops")
        self.lesson = LessonText(theme, id="lesson")
        self.panels: Mapping[PanelName, Panel] = {name: kind(theme, id=name) for name, kind in KINDS.items()}
        self.index = first
        self._theme = theme
        self._runs = runs
        self._panels = Container(*self.panels.values(), id="panels")
        self.view = RunView()
        self._told = 0

    @property
    def stop(self) -> Stop:
        """The stop that is shown."""
        return STOPS[self.index]

    def compose(self) -> ComposeResult:
        """Everything is made once; later only lines change."""
        yield self.title_line
        yield self.stops_line
        yield Container(self.lesson, self._panels, id="body")
        yield KeyBar(self._theme, TOUR_NEEDED)

    def on_mount(self) -> None:
        """Show the first stop."""
        self.enter(self.index)

    def on_resize(self, event: Resize) -> None:
        """Find text and panels their places for the new size."""
        self._place()

    def enter(self, index: int) -> None:
        """Show a stop, at its step."""
        self.index = index
        self.view = self._runs.view(self.stop.trace)
        self.stop.look(self.view)
        self._told = self.view.shown
        main = self.panels[self.stop.panels[0]]
        self._panels.sort_children(key=lambda child: child is not main)
        self._place()

    def _place(self) -> None:
        """The text beside its panels, or above them where there is less room."""
        width, height = self.size
        if not width or self.view.step is None:
            return
        shown = self.view.shown
        self.view.look_at(self._told)
        low = height < LOW
        stacked = width < (_MASK_NARROW if "mask" in self.stop.panels else NARROW) or low
        self.set_class(stacked, "-stacked")
        least, most = _TEXT_CELLS
        cells = min(width, _LONGEST_LINE) if stacked else max(least, min(most, 2 * width // 5))
        lines = self.lesson.lay_out(self.index, self.view, cells, airy=not low, alone=not stacked)
        self.lesson.styles.width = width if stacked else cells
        self.lesson.styles.height = lines + (not low) if stacked else "100%"
        room = height - _AROUND - (lines + (not low) if stacked else 0)
        kinds = rows_of(self.stop.panels, self.view, Rows(room, compact=low))
        for name, panel in self.panels.items():
            panel.display = name in kinds
            panel.compact = low
            if name in kinds:
                panel.styles.height = kinds[name]
        self.view.look_at(shown)
        self.lesson.redraw()
        self._draw()

    def _draw(self) -> None:
        """Draw the step that is looked at; only the stop's own step is pointed into."""
        view = self.view
        pointer = self.stop.pointer(view) if view.shown == self._told else Pointer()
        for panel in self.panels.values():
            point(panel, pointer, view.shown)
            if panel.display:
                panel.show(view)
        self.title_line.show(self.index, view, self._told)
        self.stops_line.show(self.index)

    def action_go(self, by: int) -> None:
        """Go some stops on or back."""
        if 0 <= self.index + by < len(STOPS):
            self.enter(self.index + by)
        else:
            self.app.bell()

    def action_stop(self, index: int) -> None:
        """Go to a stop, -1 for the last."""
        self.enter(index % len(STOPS))

    @on(StopsLine.Chosen)
    def enter_chosen(self, event: StopsLine.Chosen) -> None:
        """Go to the stop that was clicked."""
        self.enter(event.index)

    def action_step(self, by: int) -> None:
        """Look at another step of the run."""
        self.view.look_at(max(0, self.view.shown + by))
        self._draw()

    def action_explore(self) -> None:
        """Open the whole screen of the run; afterwards the stop is as it was."""
        self.app.push_screen(ExploreScreen(self._theme, self.view), lambda _: self.enter(self.index))
