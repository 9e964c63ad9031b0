"""The panels of the race: a lane, and what the race shows at its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.style import Style

from lookahead_cli.trace.words import counted
from lookahead_cli.tui.big_text import enlarge
from lookahead_cli.tui.lines import Line, flow
from lookahead_cli.tui.marks import DONE, FREE, MATCHED, REJECTED
from lookahead_cli.tui.output_layout import OutputLayout
from lookahead_cli.tui.panels.base import Panel
from lookahead_cli.tui.panels.meter import digit_rows
from lookahead_cli.tui.race.lanes import Lane, Race
from lookahead_cli.tui.run_view import RunView, Totals
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.token_text import cell_width, visible

_ROOM_FOR_DIGITS = 11
_ROOM_TO_PRESENT = 6
_ROOM_FOR_LARGE_COST = 18
_BESIDE_CELLS = 20
_FULL, _EMPTY = "█", "░"
_LEAST_BAR = 6

Phase = Literal["waiting", "measuring", "measured", "failed", "racing"]


@dataclass(frozen=True, slots=True)
class LaneState:
    """How far a lane is.

    Attributes:
        phase: Waiting to be measured, being measured, measured while others are not, failed, or racing.
        shown: Index of the last step that is shown, -1 before the first.
        tokens: Tokens at the lane's end, None where that is not known.
        place: From 1, None where there is none.
        done: True once it has reached its end.
    """

    phase: Phase
    shown: int
    tokens: int | None
    place: int | None = None
    done: bool = False


class LanePanel(Panel):
    """One lane: its figures, how far it is, and its text.

    Args:
        theme: The colours.
        lane: The lane.
        id: The widget's id.

    Attributes:
        presenting: True where its figures are in large letters, for a lecture hall.
    """

    TITLE = "RACE"
    LEGEND = ((FREE, "free", "free of charge"), ("underlined", "foreground", "last step"))
    HELP = (
        "The same prompt by several methods, with one model, one seed and the same limits; one lane a "
        "method. There is one model and one processor, so the lanes are measured one after another, each "
        "alone; then the race is played from the steps that were recorded. At true speeds every step takes "
        "the seconds that were measured for it; with one step each (c) all lanes advance one step at a time, "
        "and only the number of steps counts. S is tokens / steps. At the end the ids are compared with "
        "greedy's, and steps and time are two numbers: greedy's steps and greedy's seconds, divided by the "
        "lane's. A lane may take fewer steps and still come in later, for each of its steps feeds more nodes."
    )

    def __init__(self, theme: Theme, lane: Lane, *, id: str | None = None) -> None:
        super().__init__(theme, id=id)
        self.lane = lane
        self.presenting = False
        self._state = LaneState("waiting", -1, None)
        self._output: OutputLayout | None = None
        self._laid_out: object = None

    @property
    def heading(self) -> str:
        """Method and settings."""
        return self.lane.name

    def show_lane(self, state: LaneState) -> None:
        """Draw the lane as far as it is."""
        self._state = state
        self.show(self.lane.view)

    def lines(self, view: RunView, width: int, height: int) -> Sequence[Line]:
        """Figures, progress, and the last lines of the text."""
        figures = self._figures(view, width, height)
        if view.header is None:
            return figures
        if self._output is None or self._output.width != width or self._laid_out is not view.steps:
            self._output, self._laid_out = OutputLayout(self.colours, width), view.steps
        self._output.extend(view)
        if height - len(figures) > 3:
            figures.append(Line(width))
        text = self._output.lines(self._state.shown, max(0, height - len(figures)))
        return [*figures, *text]

    def _total(self, view: RunView) -> Totals:
        shown = self._state.shown
        return view.totals[shown] if 0 <= shown < len(view.totals) else Totals()

    def _figures(self, view: RunView, width: int, height: int) -> list[Line]:
        style = self.style
        if self._state.phase == "waiting":
            return [Line(width).add("waits to be measured", style("muted"))]
        if self._state.phase == "failed":
            return [Line(width).add("has no run; why is said below", style("rejected"))]
        total = self._total(view)
        if self.presenting and height >= _ROOM_TO_PRESENT:
            return self._large(total, width, height)
        progress = self._progress(total, width)
        steps = f"{counted(total.steps, 'step')}"
        nodes = f"{total.nodes / total.steps:.1f} nodes a step" if total.steps else "no step yet"
        seconds = f"{total.seconds:.2f} s"
        ratio = f"{total.compression_ratio:.2f}"
        if self._compact or height < _ROOM_FOR_DIGITS:
            parts = [
                Line(width).add("S ", style("muted")).add(ratio, style("accent")),
                *(Line(width).add(text, style("foreground")) for text in (steps, seconds)),
                Line(width).add(nodes, style("muted")),
            ]
            return [progress, *flow(parts, width, style("muted"))]
        lines = []
        beside = ((steps, "foreground"), (seconds, "foreground"), (nodes, "muted"))
        for row, (text, role) in zip(digit_rows(f"{ratio}×"), beside, strict=True):
            line = Line(width).add(row, style("accent")).add("  ", style("muted"))
            lines.append(line.add(text, style(role)))
        return [progress, *lines]

    def _large(self, total: Totals, width: int, height: int) -> list[Line]:
        """S, steps and seconds as large as there is room for, and below them how far it is."""
        ratio = (f"{total.compression_ratio:.2f}×", "accent")
        cost = (
            (counted(total.steps, "step"), "foreground"),
            (f"{total.seconds:.1f} s", "bonus"),
            (f"{total.emitted / total.seconds:.1f} tokens/s" if total.seconds else "", "muted"),
        )
        progress = self._progress(total, width)
        if height < _ROOM_FOR_LARGE_COST:
            digits = enlarge([ratio], width - _BESIDE_CELLS, height - 2, self.style)
            lines = []
            for row, digit in enumerate(digits):
                line = Line(width).add_line(digit).pad(digits[0].width + 3, self.style("muted"))
                text, role = cost[row] if row < len(cost) else ("", "muted")
                lines.append(line.add(text, self.style(role)))
            return [progress, *lines]
        share = (height - 6) // 3
        parts = [[progress], *(enlarge([each], width, share, self.style) for each in (ratio, *cost[:2]))]
        return [line for part in parts for line in (*part, Line(width))]

    def _progress(self, total: Totals, width: int) -> Line:
        """Place, bar and tokens."""
        state, style = self._state, self.style
        line = Line(width)
        words, role = self._standing()
        line.add(words, style(role), cells=min(9, width)).add(" ", style("muted"))
        all_tokens = state.tokens or 0
        told = f" {total.emitted} of {all_tokens}" if all_tokens else f" {total.emitted}"
        told += " tokens" if width >= 60 else ""
        cells = min(40, width - line.width - cell_width(told))
        if cells >= _LEAST_BAR and all_tokens:
            full = min(cells, cells * total.emitted // all_tokens)
            line.add(_FULL * full, style("accepted")).add(_EMPTY * (cells - full), style("muted"))
        return line.add(told, style("foreground"))

    def _standing(self) -> tuple[str, str]:
        state = self._state
        if state.phase == "measuring":
            return "measuring", "bonus"
        if state.phase == "measured":
            return f"{MATCHED} ready", "accepted"
        if state.place is None:
            return "at start", "muted"
        words = ordinal(state.place) + (f" {DONE}" if state.done else "")
        return words, "accepted" if state.place == 1 else "foreground"


class ResultPanel(Panel):
    """What is going on, and at the end what the race shows."""

    TITLE = "RESULT"
    LEGEND = ((MATCHED, "accepted", "ids equal"), (REJECTED, "rejected", "ids differ"))
    HELP = (
        "At the end: whether the ids of each lane are greedy's, or where they first differ and how close the "
        "two likeliest tokens were there; then greedy's steps and greedy's seconds divided by the lane's."
    )

    def __init__(self, theme: Theme, *, id: str | None = None) -> None:
        super().__init__(theme, id=id)
        self._heading = self.TITLE
        self._texts: Sequence[tuple[str, str]] = ()

    @property
    def heading(self) -> str:
        """What the paragraphs are about."""
        return self._heading

    def show_texts(self, heading: str, texts: Sequence[tuple[str, str]], view: RunView) -> None:
        """Draw paragraphs, each a role and a text."""
        self._heading, self._texts = heading, texts
        self.show(view)

    def lines(self, view: RunView, width: int, height: int) -> list[Line]:
        """The paragraphs, wrapped."""
        return wrapped(self._texts, width, self.style)

    def rows(self, texts: Sequence[tuple[str, str]], width: int) -> int:
        """Rows that paragraphs take on the screen, with the frame."""
        inner = width if self._compact else max(1, width - 4)
        return len(wrapped(texts, inner, self.style)) + (1 if self._compact else 2)


def result_texts(race: Race, *, short: bool = False) -> list[tuple[str, str]]:
    """What a race shows, lane by lane: roles and texts.

    Args:
        race: The lanes, each at its end.
        short: One line a lane, and the plain words for the last one alone.
    """

    def named(token: int) -> str:
        return visible(race.token(token), 16)

    results = race.results()
    texts: list[tuple[str, str]] = []
    for result in results:
        equal = result.first_difference is None
        mark, role = (MATCHED, "accepted") if equal else (REJECTED, "rejected")
        ids, cost = f"{mark} {result.name}: {result.ids_words(named)}", result.cost_words()
        if short:
            texts.append((role, f"{ids} · {result.ratio_words()}"))
            if result is results[-1]:
                texts.append(("foreground", f"  {cost}"))
            continue
        texts.append((role, ids))
        texts.append(("foreground", f"  {result.ratio_words()}" + (f" · {cost}" if cost else "")))
    meanings = dict.fromkeys(result.meaning() for result in results)
    return texts + [("muted", meaning) for meaning in meanings if meaning]


def wrapped(texts: Sequence[tuple[str, str]], width: int, style_of: Callable[[str], Style]) -> list[Line]:
    """Paragraphs as lines that break between words; a line that goes on is indented."""
    lines: list[Line] = []
    for role, text in texts:
        style = style_of(role)
        indent = " " * (len(text) - len(text.lstrip()))
        line = Line(width).add(indent, style)
        empty = True
        for word in text.split():
            gap = "" if empty else " "
            if not empty and line.width + cell_width(gap + word) > width:
                lines.append(line)
                line, gap = Line(width).add("  ", style), ""
            line.add(gap + word, style)
            empty = False
        lines.append(line)
    return lines


def ordinal(place: int) -> str:
    """A place among the lanes, such as `1st`."""
    return f"{place}{('th', 'st', 'nd', 'rd')[place] if place <= 3 else 'th'}"
