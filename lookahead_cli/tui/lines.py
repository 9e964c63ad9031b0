"""Lines of a panel: text and style from left to right, in cells, cropped to their room."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style

from lookahead_cli.tui.token_text import cell_width, truncate


class Line:
    """One line that is never wider than its room; what does not fit ends in ….

    Args:
        room: Width in cells.
    """

    __slots__ = ("room", "segments", "width")

    def __init__(self, room: int) -> None:
        self.room = room
        self.width = 0
        self.segments: list[Segment] = []

    @classmethod
    def of(cls, segments: Iterable[Segment], width: int | None = None) -> Line:
        """A line of segments that are known to fit, and to be `width` cells wide where that is known."""
        line = cls(0)
        line.segments = list(segments)
        if width is None:
            width = sum(cell_width(segment.text) for segment in line.segments)
        line.width = line.room = width
        return line

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
            # Neighbours of one style are one segment: everything later costs by the segment.
            if self.segments and self.segments[-1].style is style:
                text = self.segments.pop().text + text
            self.segments.append(Segment(text, style))
            self.width += width
        return self

    def pad(self, column: int, style: Style) -> Line:
        """Append blanks up to `column`."""
        return self.add(" " * max(0, column - self.width), style)

    def add_line(self, other: Line) -> Line:
        """Append another line's content; what does not fit ends in …."""
        if self.width + other.width <= self.room:
            self.segments += other.segments
            self.width += other.width
            return self
        for segment in other.segments:
            self.add(segment.text, segment.style or Style.null())
        return self

    def padded(self, width: int, style: Style) -> list[Segment]:
        """The segments, with blanks up to `width`."""
        if self.width >= width:
            return self.segments
        return [*self.segments, Segment(" " * (width - self.width), style)]

    def __str__(self) -> str:
        return "".join(segment.text for segment in self.segments)


def flow(parts: Iterable[Line], width: int, style: Style) -> list[Line]:
    """Parts one after another with dots between them; one that no longer fits begins a new line.

    Args:
        parts: Short lines.
        width: Room of the lines that are made.
        style: Style of the dots.
    """
    lines: list[Line] = []
    for part in parts:
        if lines and lines[-1].width + 3 + part.width <= width:
            lines[-1].add(" · ", style).add_line(part)
        else:
            lines.append(Line(width).add_line(part))
    return lines
