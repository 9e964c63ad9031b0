"""The presenter layout: fewer things and larger ones, to be read from the last row of a lecture hall."""

from __future__ import annotations

import re

from lookahead_cli.trace.words import counted, number
from lookahead_cli.tui.big_text import enlarge
from lookahead_cli.tui.drawn import Drawn
from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.panels import PoolPanel, WindowPanel
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.story import story
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.token_text import SPACE, visible
from lookahead_cli.tui.wrapping import wrapped

_MARGIN = 2
_LONGEST_LINE = 100
_TALL = 40  # Rows from which on the sentence is large too.


class Presenter(Drawn):
    """S, the accepted tokens, what happened in a sentence, and the window.

    Args:
        theme: The colours.
        id: The widget's id.
    """

    def __init__(self, theme: Theme, *, id: str | None = None) -> None:
        super().__init__(theme, "panel", id=id)
        self._view: RunView | None = None
        # Never mounted: they only make lines.
        self._window, self._pool = WindowPanel(theme), PoolPanel(theme)

    def show(self, view: RunView) -> None:
        """Draw the step that `view` looks at."""
        self._view = view
        width, height = self.size.width - 2 * _MARGIN, self.size.height
        if width <= 0 or height <= 0:
            return
        margin = " " * _MARGIN
        blank = self.style("muted")
        lines = self._lines(view, width, height)
        shifted = [Line(self.size.width).add(margin, blank).add_line(line) for line in lines]
        self.draw([*shifted[:height], *[Line(self.size.width)] * (height - len(shifted))])

    def redraw(self) -> None:
        """Draw the step again, for a new size."""
        if self._view is not None:
            self.show(self._view)

    def _lines(self, view: RunView, width: int, height: int) -> list[Line]:
        step = view.step
        if step is None:
            return enlarge([("waiting for the first step", "muted")], width, height // 3, self.style)

        def named(token: int) -> str:
            return visible(view.token(token))

        parts = story(step, named)
        sentence = wrapped(parts, min(width, _LONGEST_LINE), self.style)
        if height >= _TALL:
            words = [word for part in parts for word in _words(*part)]
            larger = enlarge(words, width, height // 3, self.style)
            sentence = larger if len(larger) > 1 else sentence
        ratio = self._ratio(view, width, max(3, height // 4))
        rows = (view.window_rows or 3) + 2
        least = min(rows, 4) + 1
        room = height - len(ratio) - len(sentence) - least - 3
        texts = [_readable(named(one.token)) for one in step.accepted]
        tokens = [*((text, "free") for text in texts[:-1]), (texts[-1], "bonus")]
        said = f"STEP {number(step.index)} ACCEPTS {counted(len(step.accepted), 'TOKEN', 'TOKENS')}"
        heading = Line(width).add(said, self.style("accent"))
        accepted = enlarge(tokens, width, min(room, height // 3), self.style)
        panel = self._window if step.window is not None else self._pool
        spare = height - len(ratio) - len(accepted) - len(sentence) - rows - 4
        gap = [Line(width)] * (1 + max(0, min(3, spare // 4)))
        lines = [*gap[1:], *ratio, *gap, heading, *accepted, *gap, *sentence, *gap]
        left = height - len(lines)
        return lines + list(panel.lines(view, width, min(left, rows)) if left > 0 else [])

    def _ratio(self, view: RunView, width: int, height: int) -> list[Line]:
        """S, and beside it what it stands for."""
        total = view.total
        digits = enlarge([(f"{total.compression_ratio:.2f}×", "accent")], width // 2, height, self.style)
        saved = total.emitted - total.steps
        beside = (
            (f"{counted(total.emitted, 'token')} in {counted(total.steps, 'step')}", "foreground"),
            (f"greedy takes {counted(total.emitted, 'step')}", "muted"),
            (f"{100 * saved / total.emitted:.0f} % saved" if saved else "none saved yet", "free"),
        )
        at = max(line.width for line in digits) + 3
        room = width - at
        texts = [
            line for text in beside for line in enlarge(_words(*text), room, max(1, height // 3), self.style)
        ]
        first = max(0, (len(digits) - len(texts)) // 2)
        lines = []
        for row in range(max(len(digits), len(texts))):
            line = Line(width).add_line(digits[row]) if row < len(digits) else Line(width)
            if 0 <= row - first < len(texts):
                line.pad(at, self.style("muted")).add_line(texts[row - first])
            lines.append(line)
        return lines


def _readable(text: str) -> str:
    """A token in large letters: its blanks are seen between the letters, unless it is nothing else."""
    return text.replace(SPACE, " ") if text.strip(SPACE) else text


def _words(text: str, role: str) -> list[tuple[str, str]]:
    return [(word, role) for word in re.findall(r"\S+ ?| ", text)]
