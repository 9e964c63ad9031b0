"""The decoding panels beside a conversation."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical

from lookahead_cli.tui.panels import AcceptedPanel, MeterPanel, Panel, PoolPanel, WindowPanel
from lookahead_cli.tui.run_screen import LOW, NARROW
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme


class PanelsColumn(Vertical):
    """Window, pool, output and meter of the run that answers.

    Args:
        theme: The colours.
    """

    DEFAULT_CSS = """
    PanelsColumn { width: 2fr; }
    PanelsColumn #accepted { height: 1fr; }
    PanelsColumn #pool { height: 2fr; }
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(id="panels")
        self._colours = theme
        self._wanted: bool | None = None

    def compose(self) -> ComposeResult:
        """One above another."""
        yield WindowPanel(self._colours, id="window")
        yield PoolPanel(self._colours, id="pool")
        yield AcceptedPanel(self._colours, id="accepted")
        yield MeterPanel(self._colours, id="meter")

    def toggle(self) -> None:
        """Show or hide them, whatever the width says."""
        self._wanted = not self.display

    def place(self, width: int, height: int, view: RunView) -> None:
        """Find the panels their places on a screen of that size.

        Below 100 columns the conversation has the room, unless the panels were asked for.
        """
        self.display = width >= NARROW if self._wanted is None else self._wanted
        low = height < LOW
        frame = 1 if low else 2
        # The window needs its rows and the meter its lines; pool and output share the rest.
        heights = {"window": (view.setting("ngram_size") or 5) + 1, "meter": 4 if low else 6}
        for panel in self.query(Panel):
            panel.compact = low
            if panel.id in heights:
                panel.styles.height = heights[panel.id] + frame
        self.query_one("#accepted").display = not low

    def show(self, view: RunView) -> None:
        """Show the run's newest step."""
        for panel in self.query(Panel):
            panel.show(view)
