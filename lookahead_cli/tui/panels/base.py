"""What all panels share: a frame with a title and a legend around lines that follow the run."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment

from lookahead_cli.tui.drawn import Drawn
from lookahead_cli.tui.explained import legend_mark
from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.token_text import cell_width


class Panel(Drawn):
    """A framed panel whose lines are made anew for each step.

    Args:
        theme: The colours.
        id: The widget's id.
    """

    def __init__(self, theme: Theme, *, id: str | None = None) -> None:
        super().__init__(theme, "panel", id=id)
        self._view: RunView | None = None
        self._compact = False
        self._frame = self.style("frame")
        self._left, self._right = Segment("│ ", self._frame), Segment("│", self._frame)

    @property
    def heading(self) -> str:
        """What the frame says."""
        return self.TITLE

    @property
    def compact(self) -> bool:
        """True where the frame is only a line with the title and the legend, for small terminals."""
        return self._compact

    @compact.setter
    def compact(self, compact: bool) -> None:
        if compact != self._compact:
            self._compact = compact
            self.redraw()

    def show(self, view: RunView) -> None:
        """Draw the step that `view` looks at."""
        self._view = view
        width, height = self.size
        if width <= 0 or height <= 0:
            return
        if self._compact:
            self.draw([self._top(width, closed=False), *self.lines(view, width, height - 1)[: height - 1]])
            return
        inner, room = width - 4, height - 2
        if inner <= 0 or room < 0:
            self.draw([])
            return
        lines = list(self.lines(view, inner, room))[:room]
        lines += [Line(inner)] * (room - len(lines))
        framed = [self._framed(line, inner) for line in lines]
        self.draw([self._top(width, closed=True), *framed, self._bottom(width)])

    def redraw(self) -> None:
        """Draw the step again, for a new size."""
        if self._view is not None:
            self.show(self._view)

    def lines(self, view: RunView, width: int, height: int) -> Sequence[Line]:
        """The lines inside the frame, of at most `width` cells; those past `height` are dropped."""
        raise NotImplementedError

    def waiting(self, view: RunView, width: int, what: str) -> list[Line]:
        """What a panel says that has nothing to show."""
        if view.step is None:
            words = "waiting for the first step"
        elif view.method == "lookahead":
            words = f"the sources of this run have no {what}"
        else:
            words = f"{view.method} decoding has no {what}"
        return [Line(width).add(words, self.style("muted"))]

    # The frame.

    def _framed(self, line: Line, inner: int) -> Line:
        gap = Segment(" " * (inner - line.width + 1), self._ground)
        return Line.of((self._left, *line.segments, gap, self._right), inner + 4)

    def _top(self, width: int, *, closed: bool) -> Line:
        line = Line(width).add("╭─ " if closed else "─ ", self._frame).add(self.heading, self.style("accent"))
        if not closed:
            line.add_line(self._legend(width - line.width - 1))
        line.add(" ", self._frame)
        end = "╮" if closed else ""
        return line.add("─" * max(0, width - line.width - len(end)) + end, self._frame)

    def _bottom(self, width: int) -> Line:
        legend = self._legend(width - 4)
        rule = "─" * (width - legend.width - (4 if legend.width else 2))
        line = Line(width).add(f"╰{rule}", self._frame).add_line(legend)
        return line.add(" ─╯" if legend.width else "╯", self._frame)

    def _legend(self, width: int) -> Line:
        """The marks that there is room for, each with its meaning or not at all."""
        line = Line(max(0, width))
        for mark, role, words in self.LEGEND:
            gap = "  " if line.width else " "
            if line.width + cell_width(f"{gap}{mark} {words}") > width:
                break
            line.add(gap, self._frame).add(mark, legend_mark(mark, self.style(role)))
            line.add(f" {words}", self.style("muted"))
        return line
