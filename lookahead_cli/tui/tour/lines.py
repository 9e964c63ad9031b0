"""The lines around a stop's panels: where in the lesson one is, and what the stop says."""

from __future__ import annotations

from textual.events import Click
from textual.message import Message

from lookahead_cli.trace.settings import settings_words
from lookahead_cli.trace.words import number
from lookahead_cli.tui.drawn import Drawn
from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.marks import PAST, PLAYING
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.tour.lesson import STOPS
from lookahead_cli.tui.wrapping import wrapped


class TourTitle(Drawn):
    """Which stop it is, and which step of which run is on the panels.

    Args:
        theme: The colours.
        id: The widget's id.
    """

    DEFAULT_CSS = "TourTitle { height: 1; }"

    def __init__(self, theme: Theme, *, id: str | None = None) -> None:
        super().__init__(theme, "background", id=id)
        self._shown: tuple[int, RunView, int] | None = None

    def show(self, index: int, view: RunView, told: int) -> None:
        """Draw the line.

        Args:
            index: The stop, from 0.
            view: Its run.
            told: Index of the step that the text is about.
        """
        self._shown = (index, view, told)
        style, width = self.style, self.size.width
        line = Line(width).add(" LOOKAHEAD TOUR", style("accent"))
        line.add(f" · stop {number(index)} of {len(STOPS)}", style("foreground"))
        right = Line(width)
        if view.shown != told:
            right.add(f"{PAST} the text is about step {number(told)} · ", style("wanted"))
        elif view.header is not None and width >= 60:
            right.add(f"{settings_words(view.header.config)} · ", style("muted"))
        right.add(f"step {number(view.shown)}/{len(view.steps)} ", style("foreground"))
        self.draw([line.pad(width - right.width, style("muted")).add_line(right)])

    def redraw(self) -> None:
        """Draw the line again, for a new size."""
        if self._shown is not None:
            self.show(*self._shown)


class StopsLine(Drawn):
    """All stops by number and name, where they fit; else by number, and the one that is shown by name.

    Args:
        theme: The colours.
        id: The widget's id.
    """

    DEFAULT_CSS = "StopsLine { height: 1; }"

    class Chosen(Message):
        """A stop was clicked.

        Attributes:
            index: The stop, from 0.
        """

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, theme: Theme, *, id: str | None = None) -> None:
        super().__init__(theme, "background", id=id)
        self.tooltip = "Click to go to a stop"
        self._index = 0
        self._ends: list[int] = []

    def show(self, index: int) -> None:
        """Draw the line."""
        self._index = index
        style, width = self.style, self.size.width
        all_named = sum(len(f"  {number(at)} {stop.name}") for at, stop in enumerate(STOPS)) <= width - 2
        line = Line(width)
        self._ends = []
        for at, stop in enumerate(STOPS):
            here = at == index
            line.add(f" {PLAYING if here else ' '}", style("accent"))
            name = f" {stop.name}" if here or all_named else ""
            line.add(f"{number(at)}{name}", style("accent" if here else "muted"))
            self._ends.append(line.width)
        self.draw([line])

    def redraw(self) -> None:
        """Draw the line again, for a new size."""
        self.show(self._index)

    def on_click(self, event: Click) -> None:
        """Go to the stop under the mouse."""
        for index, end in enumerate(self._ends):
            if event.x < end:
                self.post_message(self.Chosen(index))
                return


class LessonText(Drawn):
    """What a stop says, under its title.

    Args:
        theme: The colours.
        id: The widget's id.
    """

    MARGIN = 2

    def __init__(self, theme: Theme, *, id: str | None = None) -> None:
        super().__init__(theme, "background", id=id)
        self._lines: list[Line] = []

    def lay_out(self, index: int, view: RunView, width: int, *, airy: bool, alone: bool) -> int:
        """Put a stop's text into lines.

        Args:
            index: The stop, from 0.
            view: Its run, looking at the stop's step.
            width: Cells there are.
            airy: Leave lines free around the title.
            alone: Nothing is below the text, so there is room to name the next stop.

        Returns:
            How many lines it takes.
        """
        stop = STOPS[index]
        style, room = self.style, max(10, width - 2 * self.MARGIN)
        gap = [Line(width)] if airy else []
        title = wrapped([(stop.title, "accent")], room, style)
        text = wrapped(stop.parts(view), room, style)
        if alone:
            text += [Line(room), *wrapped([_next(index)], room, style)]
        margin = Line(width).add(" " * self.MARGIN, style("foreground"))
        shifted = [Line(width).add_line(margin).add_line(line) for line in (*title, *gap, *text)]
        self._lines = [*gap, *shifted]
        return len(self._lines)

    def redraw(self) -> None:
        """Draw the lines."""
        self.draw([*self._lines, *[Line(self.size.width)] * (self.size.height - len(self._lines))])


def _next(index: int) -> tuple[str, str]:
    if index + 1 == len(STOPS):
        return "The tour ends here: q leaves, ← goes back.", "muted"
    return f"→ next: {STOPS[index + 1].title}", "muted"
