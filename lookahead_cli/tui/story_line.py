"""Two lines below the panels: the step in a sentence."""

from __future__ import annotations

from lookahead_cli.tui.drawn import Drawn
from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.story import story
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.token_text import visible
from lookahead_cli.tui.wrapping import wrapped

_MARK = "THIS STEP  "


class StoryLine(Drawn):
    """What happened in the step that is looked at.

    Args:
        theme: The colours.
        id: The widget's id.
    """

    DEFAULT_CSS = "StoryLine { height: 2; }"

    def __init__(self, theme: Theme, *, id: str | None = None) -> None:
        super().__init__(theme, "background", id=id)
        self._view: RunView | None = None

    def show(self, view: RunView) -> None:
        """Draw the lines."""
        self._view = view
        width, step = self.size.width, view.step
        if not self.display or width <= len(_MARK) or step is None:
            return

        def named(token: int) -> str:
            return visible(view.token(token), 20)

        marks = [_MARK, " " * len(_MARK)]
        told = wrapped(story(step, named), width - len(_MARK), self.style)[:2]
        told += [Line(width)] * (2 - len(told))
        accent = self.style("accent")
        self.draw(
            [Line(width).add(mark, accent).add_line(line) for mark, line in zip(marks, told, strict=True)]
        )

    def redraw(self) -> None:
        """Draw the lines again, for a new size."""
        if self._view is not None:
            self.show(self._view)
