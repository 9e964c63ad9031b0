"""The screen of a run: title, four panels, timeline, keys, and what is being loaded before the first step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Grid
from textual.events import Resize
from textual.screen import Screen

from lookahead_cli.tui.explained import Explained
from lookahead_cli.tui.key_bar import KeyBar
from lookahead_cli.tui.keys import EXPLAINED, RUN_NEEDED
from lookahead_cli.tui.loading import LoadingPanel
from lookahead_cli.tui.panels import AcceptedPanel, MeterPanel, Panel, PoolPanel, WindowPanel
from lookahead_cli.tui.panels.window import NARROWEST_CELL, cells_for
from lookahead_cli.tui.presenter import Presenter
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.story_line import StoryLine
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.timeline import Timeline
from lookahead_cli.tui.title import PlayState, TitleLine

NARROW, LOW = 100, 30
_ROOMY = 36  # Rows from which on there is room to tell the step.
_AROUND = 3  # Rows of the title, the timeline and the keys.


class RunScreen(Screen[None]):
    """Shows what a `RunView` looks at.

    Args:
        theme: The colours.
        what: What runs, as known before the model is loaded.
        view: The run.
    """

    EXPLAINS: ClassVar[Sequence[type[Explained]]] = EXPLAINED
    DEFAULT_CSS = """
    RunScreen {
        layout: vertical; background: $background; overflow: hidden;
        #panels { height: 1fr; layout: grid; grid-size: 2; grid-columns: 1fr 1fr; display: none; }
        #panels Panel { width: 100%; height: 100%; }
        #loading { height: 1fr; }
        #presenter { height: 1fr; display: none; }
        #story { display: none; }
        &.-started #panels { display: block; }
        &.-started #loading { display: none; }
        &.-started.-presenting #panels { display: none; }
        &.-started.-presenting #presenter { display: block; }
        &.-across #window, &.-across #pool { column-span: 2; }
        &.-stacked #panels { grid-size: 1; grid-columns: 1fr; }
    }
    """

    def __init__(self, theme: Theme, what: str, view: RunView) -> None:
        super().__init__()
        self.title_line = TitleLine(theme, id="title")
        self.loading_panel = LoadingPanel(theme, what, id="loading")
        self.window_panel = WindowPanel(theme, id="window")
        self.pool_panel = PoolPanel(theme, id="pool")
        self.accepted_panel = AcceptedPanel(theme, id="accepted")
        self.meter_panel = MeterPanel(theme, id="meter")
        self.presenter = Presenter(theme, id="presenter")
        self.story_line = StoryLine(theme, id="story")
        self.timeline = Timeline(theme, id="timeline")
        self._key_bar = KeyBar(theme, RUN_NEEDED)
        self._grid = Grid(*self.panels, id="panels")
        self._zoomed: Panel | None = None
        self._what = what
        self._view = view

    @property
    def panels(self) -> Sequence[Panel]:
        """The four panels, in the order of reading."""
        return (self.window_panel, self.pool_panel, self.accepted_panel, self.meter_panel)

    def compose(self) -> ComposeResult:
        """Everything is made once; later only lines change."""
        yield self.title_line
        yield self.loading_panel
        yield self._grid
        yield self.presenter
        yield self.story_line
        yield self.timeline
        yield self._key_bar

    def on_resize(self, event: Resize) -> None:
        """Find the panels their places for the new size."""
        self.place_panels()

    def draw(self, state: PlayState) -> None:
        """Draw the step that is looked at."""
        if self._view.header is None:
            self.loading_panel.show(self._view)
        else:
            if self.presenting:
                self.presenter.show(self._view)
            else:
                for panel in self.panels:
                    panel.show(self._view)
                self.story_line.show(self._view)
        self.title_line.show(self._view, state, self._what)
        self.timeline.show(self._view)

    def start(self) -> None:
        """The prompt is fed: the panels take the place of what was loaded."""
        self.add_class("-started")
        self.place_panels()

    @property
    def presenting(self) -> bool:
        """True where the presenter layout takes the place of the panels."""
        return self.has_class("-presenting")

    def present(self, presenting: bool) -> None:
        """Show the presenter layout, or the panels."""
        self.set_class(presenting, "-presenting")
        self.place_panels()

    def zoom(self, number: int | None) -> None:
        """Give one panel, counted from 0, the whole screen; the same one again, or None, shows all four."""
        self.remove_class("-presenting")
        panel = None if number is None else self.panels[number]
        self._zoomed = None if panel is self._zoomed else panel
        self.place_panels()

    def place_panels(self) -> None:
        """Two by two; the window across the screen where its columns need it; stacked on a small terminal."""
        roomy = self.size.width >= NARROW and self.size.height >= _ROOMY
        self.story_line.display = (
            self.has_class("-started") and roomy and not self.presenting and self._zoomed is None
        )
        for panel in self.panels:
            panel.display = self._zoomed in (None, panel)
        if self._zoomed is not None:
            self.remove_class("-across")
            self.add_class("-stacked")
            self._zoomed.compact = False
            self._grid.styles.grid_rows = "1fr"
            return
        width, height = self.size
        has_window = self._view.window_rows > 0
        columns = self._view.setting("window_size") or 1
        rows = self._view.window_rows + 2 if has_window else 1
        stacked = width < NARROW or height < LOW
        across = not stacked and has_window and cells_for(columns, width // 2 - 4) < NARROWEST_CELL
        self.set_class(stacked, "-stacked")
        self.set_class(across, "-across")
        for panel in self.panels:
            panel.compact = stacked
        if stacked:
            # The window needs its rows and the meter its three lines; pool and output share the rest.
            room = height - _AROUND - len(self.panels)
            window = max(1, min(rows, room - 5))
            meter = max(1, min(3, room - window - 4))
            self._grid.styles.grid_rows = f"{window + 1} 1fr 1fr {meter + 1}"
        elif across:
            self._grid.styles.grid_rows = f"{rows + 2} 2fr 3fr"
        else:
            self._grid.styles.grid_rows = "1fr 1fr"
