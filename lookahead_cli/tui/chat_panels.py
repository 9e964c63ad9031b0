"""The decoding panels beside a conversation."""

from __future__ import annotations

from collections.abc import Mapping

from textual.app import ComposeResult
from textual.containers import Vertical

from lookahead_cli.tui.panels import AcceptedPanel, MeterPanel, Panel, PoolPanel, WindowPanel
from lookahead_cli.tui.run_screen import LOW, NARROW
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme

ALL = "all"


class PanelsColumn(Vertical):
    """Window, pool, output and meter of the run that answers.

    Args:
        theme: The colours.
        wanted: Which panels were asked for or hidden before, by id; `all` for the column.
    """

    DEFAULT_CSS = """
    PanelsColumn { width: 2fr; }
    PanelsColumn #accepted { height: 1fr; }
    PanelsColumn #pool { height: 2fr; }
    """

    def __init__(self, theme: Theme, wanted: Mapping[str, bool]) -> None:
        super().__init__(id="panels")
        self._colours = theme
        self._wanted = dict(wanted)

    @property
    def wanted(self) -> Mapping[str, bool]:
        """Which panels were asked for or hidden."""
        return self._wanted

    def compose(self) -> ComposeResult:
        """One above another."""
        yield WindowPanel(self._colours, id="window")
        yield PoolPanel(self._colours, id="pool")
        yield AcceptedPanel(self._colours, id="accepted")
        yield MeterPanel(self._colours, id="meter")

    def toggle(self, name: str = ALL) -> None:
        """Show or hide one panel, or all, whatever the size says."""
        panels = {panel.id: panel.display for panel in self.query(Panel) if panel.id is not None}
        if name == ALL:
            self._wanted = {**self._wanted, ALL: True} if any(panels.values()) else {ALL: True}
            self._wanted[ALL] = not self.display
        elif self.display:
            self._wanted |= {name: not panels[name], ALL: True}
        else:
            # Where none was seen, that one is asked for, and no other.
            self._wanted = {ALL: True, **dict.fromkeys(panels, False), name: True}

    def place(self, width: int, height: int, view: RunView) -> None:
        """Find the panels their places on a screen of that size.

        Below 100 columns the conversation has the room, unless the panels were asked for.
        """
        low = height < LOW
        frame = 1 if low else 2
        # The window needs its rows and the meter its lines; pool and output share the rest.
        heights = {"window": (view.setting("ngram_size") or 5) + 1, "meter": 4 if low else 6}
        for panel in self.query(Panel):
            assert panel.id is not None
            panel.compact = low
            panel.display = self._wanted.get(panel.id, not low or panel.id != "accepted")
            if panel.id in heights:
                panel.styles.height = heights[panel.id] + frame
        shown = [panel for panel in self.query(Panel) if panel.display]
        if len(shown) == 1 and shown[0].id in heights:
            shown[0].styles.height = "1fr"
        self.display = bool(shown) and self._wanted.get(ALL, width >= NARROW)

    def show(self, view: RunView) -> None:
        """Show the run's newest step."""
        for panel in self.query(Panel):
            panel.show(view)
