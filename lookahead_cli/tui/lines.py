"""Lines of a panel: text and style from left to right, in cells, cropped to their room."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from lookahead_cli.tui.token_text import cell_width, truncate


class Line:
    """One line that is never wider than its room; what does not fit ends in ….

    Args:
        room: Width in cells.
    """

    __slots__ = ("_segments", "room", "width")

    def __init__(self, room: int) -> None:
        self.room = room
        self.width = 0
        self._segments: list[Segment] = []

    def add(self, text: str, style: Style, *, cells: int | None = None) -> Line:
        """Append `text`, padded with blanks to `cells`."""
        width = cell_width(text)
        left = self.room - self.width
        if width > left:
            text = truncate(text, left)
            width = cell_width(text)
        if cells is not None and cells > width:
            wider = min(cells, left)
            text += " " * (wider - width)
            width = wider
        if text:
            self._segments.append(Segment(text, style))
            self.width += width
        return self

    def pad(self, column: int) -> Line:
        """Append blanks up to `column`."""
        if self.width < column:
            self.add(" " * (min(column, self.room) - self.width), Style.null())
        return self

    def add_line(self, other: Line) -> Line:
        """Append another line's content, which has to fit."""
        self._segments += other._segments
        self.width += other.width
        return self

    def strip(self) -> Strip:
        """The line as Textual draws it."""
        return Strip(self._segments, self.width)

    def __str__(self) -> str:
        return "".join(segment.text for segment in self._segments)
