"""The title line: what runs, and which step of it is on the screen."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lookahead_cli.trace.settings import settings_words
from lookahead_cli.trace.words import ENDINGS, number
from lookahead_cli.tui.drawn import Drawn
from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.marks import DONE, PAST, PAUSED, PLAYING
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.token_text import truncate, visible_text


@dataclass(frozen=True, slots=True)
class PlayState:
    """How the run moves on.

    Attributes:
        paused: True while it is held.
        speed: Steps a second, `math.inf` for no limit.
        stopping: True once it was told to stop.
    """

    paused: bool
    speed: float
    stopping: bool = False


class TitleLine(Drawn):
    """Model, settings, step, and how the run moves on.

    Args:
        theme: The colours.
        id: The widget's id.
    """

    DEFAULT_CSS = "TitleLine { height: 1; }"

    def __init__(self, theme: Theme, *, id: str | None = None) -> None:
        super().__init__(theme, "background", id=id)
        self._shown: tuple[RunView, PlayState, str] | None = None

    def show(self, view: RunView, state: PlayState, name: str) -> None:
        """Draw the line; `name` stands for the model as long as that is not known."""
        self._shown = (view, state, name)
        width = self.size.width
        right = self._right(view, state, width)
        left = self._left(view, name, max(0, width - right.width - 2))
        line = Line(width).add_line(left).pad(width - right.width, self.style("muted")).add_line(right)
        self.draw([line])

    def redraw(self) -> None:
        """Draw the line again, for a new size."""
        if self._shown is not None:
            self.show(*self._shown)

    def _left(self, view: RunView, name: str, room: int) -> Line:
        style = self.style
        line = Line(room)
        header = view.header
        if header is None:
            return line.add(_words(name), style("accent"))
        settings = " · " + settings_words(header.config).removeprefix("lookahead ")
        kind = f" · {header.dtype} · {header.place}"
        # The model's name gives way first: the settings are what a picture of the screen is read for.
        left = room - len(settings) - len(kind)
        line.add(truncate(_words(header.model), max(8, left)), style("accent"))
        return line.add(_words(kind), style("muted")).add(_words(settings), style("foreground"))

    def _right(self, view: RunView, state: PlayState, width: int) -> Line:
        style = self.style
        line = Line(width)
        if view.header is None:
            return line.add("stopping" if state.stopping else "getting ready", style("muted"))
        of = f"/{len(view.steps)}" if view.recorded or not view.following or view.footer is not None else ""
        if view.steps:
            line.add(f"step {max(0, number(view.shown))}{of} · ", style("foreground"))
        words, role = self._state(view, state)
        return line.add(words, style(role))

    @staticmethod
    def _state(view: RunView, state: PlayState) -> tuple[str, str]:
        if state.stopping:
            return "stopping", "rejected"
        speed = speed_words(state.speed)
        ended = "" if view.footer is None else f"{DONE} {ENDINGS[view.footer.finish_reason]}"
        if view.recorded:
            if not state.paused:
                return f"{PLAYING} {speed} · recorded", "accepted"
            return (
                (f"{ended} · recorded", "bonus") if view.at_end else (f"{PAUSED} paused · recorded", "free")
            )
        if not view.following:
            now = "ended" if ended else "paused" if state.paused else "running"
            return f"{PAST} THE PAST · {now}", "wanted"
        if ended:
            return ended, "bonus"
        if view.progress is not None:
            return f"{PLAYING} comparing", "bonus"
        if state.paused:
            return f"{PAUSED} paused · live", "free"
        return f"{PLAYING} {speed} · live", "accepted"


def _words(text: str) -> str:
    """Text of a file on one line, with its spaces as they are."""
    return visible_text(text).replace("␣", " ")


def speed_words(speed: float) -> str:
    """Steps a second, for people."""
    if speed == math.inf:
        return "full speed"
    return f"{speed:g} {'step/s' if speed == 1 else 'steps/s'}"
