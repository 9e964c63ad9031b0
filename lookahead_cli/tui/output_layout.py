"""The prompt's end and the output in lines, token by token: a redraw costs the lines on the screen alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style

from lookahead_cli.decoding.records import Step
from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.marks import FREE
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.token_text import (
    LINE_BREAK,
    SPACE,
    TAB,
    ByteJoiner,
    cell_width,
    join_tokens,
    screen_text,
    take_cells,
    visible_bytes,
    visible_text,
)

_BLANKS = SPACE + LINE_BREAK + TAB
_PARTS = re.compile(f"[{_BLANKS}]+|[^{_BLANKS}]+")
_CURRENT = Style(underline=True)
_PROMPT_TOKENS = 500
"""More than the tallest screen shows above the first step."""


class OutputLayout:
    """Lines of the prompt's end, muted, and of the output, each token on the ground of its step.

    Args:
        theme: The colours.
        width: Cells a line.
        rendered: True for the text as it reads, without marks for whitespace and free tokens.
    """

    def __init__(self, theme: Theme, width: int, *, rendered: bool = False) -> None:
        self._theme = theme
        self._text_of = screen_text if rendered else visible_text
        self._line_break = "\n" if rendered else LINE_BREAK
        self._free_mark = "" if rendered else FREE
        self.width = max(1, width)
        self._lines: list[list[Segment]] = [[]]
        self._used = 0
        # After the prompt and each step: lines, segments of the last one, bytes of an unfinished character.
        self._marks: list[tuple[int, int, bytes]] = []
        self._joiner = ByteJoiner()

    @property
    def steps(self) -> int:
        """Steps laid out so far."""
        return max(0, len(self._marks) - 1)

    def extend(self, view: RunView) -> None:
        """Lay out the prompt, the first time, and the steps that are new in `view`."""
        if not self._marks and view.header is not None:
            self._add_prompt(view, view.header.prompt_ids[-_PROMPT_TOKENS:])
        for step in view.steps[self.steps :]:
            self._add_step(view, step)

    def _add_prompt(self, view: RunView, prompt_ids: Sequence[int]) -> None:
        muted = self._theme.on("panel")("muted")
        tokens = filter(None, map(view.token, prompt_ids))
        for text in join_tokens(list(tokens)):
            self._place(self._text_of(text), muted, muted)
        self._mark()

    def _mark(self) -> None:
        self._marks.append((len(self._lines), len(self._lines[-1]), self._joiner.pending))

    def _add_step(self, view: RunView, step: Step) -> None:
        style = self._theme.on(f"shade_{step.index % len(self._theme.shades)}")
        for left, accepted in enumerate(step.accepted, start=1 - len(step.accepted)):
            token = view.token(accepted.token)
            assert token is not None
            free = left < 0  # A step costs its last token, even where an end cut it among its guesses.
            text = self._text_of(self._joiner.add(token))
            if not text:
                continue
            role = "muted" if token.special else "free" if free else "foreground"
            self._place((self._free_mark if free else "") + text, style(role), style("muted"))
        self._mark()

    def _place(self, text: str, style: Style, blank: Style) -> None:
        for whole in re.split(f"(?<={self._line_break})", text):
            piece = whole.rstrip("\n")
            if self._used and self._used + cell_width(piece) > self.width:
                self._break()
            rest = piece
            while rest:
                kept, rest = take_cells(rest, self.width - self._used)
                if not kept:
                    if not self._used:
                        return
                    self._break()
                    continue
                for part in _PARTS.findall(kept):
                    self._lines[-1].append(Segment(part, blank if part[0] in _BLANKS else style))
                self._used += cell_width(kept)
            if whole.endswith(self._line_break):
                self._break()

    def _break(self) -> None:
        self._lines.append([])
        self._used = 0

    def lines(self, shown: int, height: int) -> list[Line]:
        """The last `height` lines up to step `shown`, whose own tokens are underlined; -1 for the prompt."""
        if not -1 <= shown < self.steps or not self._marks or height <= 0:
            return []
        count, segments, pending = self._marks[shown + 1]
        from_line, from_segment, _ = self._marks[max(0, shown)]
        first = max(0, count - height)
        lines = [list(line) for line in self._lines[first:count]]
        lines[-1] = lines[-1][:segments]
        for index in range(max(first, from_line - 1), count):
            start = from_segment if index == from_line - 1 else 0
            line = lines[index - first]
            line[start:] = [
                Segment(part.text, (part.style or Style.null()) + _CURRENT) for part in line[start:]
            ]
        if pending:
            lines[-1].append(Segment(visible_bytes(pending), self._theme.on("panel")("muted")))
        return [Line.of(line) for line in lines]
