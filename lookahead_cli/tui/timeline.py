"""The timeline: one bar a step, as high as the tokens that it emitted; a click goes there."""

from __future__ import annotations

from rich.style import Style
from textual.events import Click, MouseDown, MouseMove
from textual.message import Message

from lookahead_cli.tui.drawn import Drawn
from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.marks import BARS
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme

_HERE = Style(reverse=True)
_HIGHEST_HERE = "▓"
"""A full bar, in reverse, would be none."""


class Timeline(Drawn):
    """One line of bars; the step that is looked at stands out.

    Args:
        theme: The colours.
        id: The widget's id.
    """

    DEFAULT_CSS = "Timeline { height: 1; }"
    TITLE = "TIMELINE"
    LEGEND = (
        (BARS[0], "muted", "one token"),
        (BARS[-1], "free", "several tokens"),
        (BARS[-1], "accent", "the step that is looked at"),
    )
    HELP = (
        "One bar a step, as high as the tokens that the step emitted. A click goes to a step, and so does "
        "the mouse while its button is held; n and N go to the high bars. Looking back disturbs nothing: a "
        "live run goes on, or stays held, as it was, and the title says THE PAST until end goes back to the "
        "newest step."
    )

    class Chosen(Message):
        """A step was pointed at.

        Attributes:
            index: The step's index.
        """

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, theme: Theme, *, id: str | None = None) -> None:
        super().__init__(theme, "background", id=id)
        self.tooltip = "One bar a step, as high as its tokens; click to look at a step"
        self._view: RunView | None = None
        self._first = 0
        self._count = 0

    def show(self, view: RunView) -> None:
        """Draw the bars around the step that `view` looks at."""
        self._view = view
        width = self.size.width
        self._count = len(view.steps)
        # A step in the middle while there is more on both sides, else the first or the last ones.
        self._first = max(0, min(view.shown - width // 2, self._count - width))
        highest = max(2, len(view.totals[-1].histogram)) if view.totals else 2
        line = Line(width)
        style = self.style
        for step in view.steps[self._first : self._first + width]:
            emitted = len(step.accepted)
            bar = BARS[round((len(BARS) - 1) * (emitted - 1) / (highest - 1))]
            if step.index != view.shown:
                line.add(bar, style("free" if emitted > 1 else "muted"))
            elif bar == BARS[-1]:
                line.add(_HIGHEST_HERE, style("accent"))
            else:
                line.add(bar, style("accent") + _HERE)
        self.draw([line])

    def redraw(self) -> None:
        """Draw the bars again, for a new size."""
        if self._view is not None:
            self.show(self._view)

    def on_mouse_down(self, event: MouseDown) -> None:
        """Follow the mouse while its button is held."""
        self.capture_mouse()

    def on_mouse_up(self) -> None:
        """Let the mouse go."""
        self.release_mouse()

    def on_mouse_move(self, event: MouseMove) -> None:
        """Go to the step under the mouse while its button is held."""
        if event.button:
            self._choose(event.x)

    def on_click(self, event: Click) -> None:
        """Go to the step under the mouse."""
        self._choose(event.x)

    def _choose(self, x: int) -> None:
        if self._count:
            self.post_message(self.Chosen(max(0, min(self._first + x, self._count - 1))))
