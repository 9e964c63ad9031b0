"""Widgets that are drawn line by line, where a redraw costs the lines that changed and nothing else.

Textual lays every line of a widget out anew through its style sheet: borders, padding, colour filters. At one
redraw a decoding step that takes more time from the model than all panels' own work, so these widgets hand
Textual whole lines in their final colours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.events import Resize
from textual.filter import ANSIToTruecolor
from textual.geometry import Region
from textual.strip import Strip

from lookahead_cli.tui.explained import Explained
from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.theme import Theme


class Drawn(Explained):
    """A widget of ready-made lines.

    Args:
        theme: The colours.
        ground: Role of its ground, `panel` or `background`.
        id: The widget's id.
    """

    def __init__(self, theme: Theme, ground: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.colours = theme
        self.style: Callable[[str], Style] = theme.on(ground)
        self._ground = self.style("foreground")
        self._ground_colour = Color.parse(theme.colour(ground))
        self._segments: list[list[Segment]] = []
        self._strips: list[Strip] = []

    @property
    def text(self) -> str:
        """What it says, without colours."""
        return "\n".join(strip.text.rstrip() for strip in self._strips)

    def draw(self, lines: Sequence[Line]) -> None:
        """Put lines on the screen, those that changed."""
        width, height = self.size
        rows = [line.padded(width, self._ground) for line in lines[:height]]
        if len(rows) != len(self._segments):
            self._segments = rows
            self._strips = [self._strip(row, width) for row in rows]
            self.refresh()
            return
        changed = [y for y, row in enumerate(rows) if row != self._segments[y]]
        for y in changed:
            self._segments[y] = rows[y]
            self._strips[y] = self._strip(rows[y], width)
        if changed:
            self.refresh(*(Region(0, y, width, 1) for y in changed))

    def redraw(self) -> None:
        """Draw anew what was drawn last, for a new size."""

    def on_resize(self, event: Resize) -> None:
        """Draw the lines for the new size."""
        self._segments, self._strips = [], []
        self.redraw()

    def _strip(self, row: list[Segment], width: int) -> Strip:
        strip = Strip(row, width)
        for line_filter in self.app.get_line_filters():
            # All colours are true colours already; without colours (NO_COLOR) the filter has work to do.
            if not isinstance(line_filter, ANSIToTruecolor):
                strip = strip.apply_filter(line_filter, self._ground_colour)
        return strip

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines, as Textual asks for them."""
        strips = self._strips[crop.y : crop.bottom]
        width = self.size.width
        if len(strips) < crop.height:
            strips += [Strip.blank(width, self._ground)] * (crop.height - len(strips))
        if crop.column_span != (0, width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips
