"""The tour as text: each stop's words, and below them what its panels say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.style import Style
from rich.text import Text

from lookahead_cli.cli.console import output_console, writing_output
from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme, load_theme_or_default

if TYPE_CHECKING:
    from lookahead_cli.tui.panels import Panel
    from lookahead_cli.tui.tour.lesson import PanelName, Stop

_WIDEST = 100


def print_lesson(*, first: int, theme: str | None) -> None:
    """Print the stops.

    Args:
        first: The stop to begin with, from 0.
        theme: A theme's name or file, None for the default.

    Raises:
        InputError: A recorded run of the tour is missing or damaged.
        OutputError: Standard output cannot be written.
    """
    from lookahead_cli.tui.tour.lesson import STOPS
    from lookahead_cli.tui.tour.traces import TourRuns

    console, colours, runs = output_console(), load_theme_or_default(theme)[0], TourRuns()
    for index, stop in enumerate(STOPS[first:], start=first):
        view = runs.view(stop.trace)
        stop.look(view)
        gap = [] if index == first else [Text()]
        lines = [*gap, *_stop(index, stop, view, colours, _width(console))]
        with writing_output():
            for line in lines:
                line.rstrip()
                console.print(line, soft_wrap=True)


def _width(console: Console) -> int:
    return max(40, min(console.width, _WIDEST))


def _stop(index: int, stop: Stop, view: RunView, theme: Theme, width: int) -> list[Text]:
    from lookahead_cli.tui.tour.lesson import STOPS
    from lookahead_cli.tui.wrapping import wrapped

    title = Text(f"{index + 1} of {len(STOPS)}  {stop.title}", theme.style("accent"))
    text = [_text(line) for line in wrapped(stop.parts(view), width, theme.style)]
    lines = [title, Text(), *text]
    for name in stop.panels:
        lines += _panel(stop, name, view, theme, width)
    return lines


def _panel(stop: Stop, name: PanelName, view: RunView, theme: Theme, width: int) -> list[Text]:
    """A panel's title, the step it shows, and its lines."""
    from lookahead_cli.trace.settings import settings_words
    from lookahead_cli.trace.words import number
    from lookahead_cli.tui.tour.pictures import panel_of
    from lookahead_cli.tui.tour.room import wanted_rows

    panel = panel_of(name, theme, stop.pointer(view), view.shown)
    assert view.header is not None
    rule = Text(panel.TITLE, theme.style("accent"))
    rule.append(f" · step {number(view.shown)} · {settings_words(view.header.config)}", theme.style("muted"))
    legend = _legend(panel, theme)
    drawn = [_text(line) for line in panel.lines(view, width, wanted_rows(name, view))]
    while drawn and not drawn[-1].plain.strip():
        drawn.pop()
    return [Text(), rule, *([legend] if legend.plain else []), *drawn]


def _legend(panel: Panel, theme: Theme) -> Text:
    parts = Text()
    for mark, role, words in panel.LEGEND:
        parts.append("   " if parts.plain else "").append(mark, theme.style(role))
        parts.append(f" {words}", theme.style("muted"))
    return parts


def _text(line: Line) -> Text:
    """A panel's line without its ground, which would end in the middle of a terminal's line."""
    text = Text()
    for segment in line.segments:
        style = segment.style or Style.null()
        text.append(
            segment.text,
            Style(
                color=style.color,
                bold=style.bold,
                italic=style.italic,
                underline=style.underline,
                reverse=style.reverse,
            ),
        )
    return text
