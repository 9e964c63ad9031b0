"""Panels drawn without a screen: what they say for a view and a size."""

from __future__ import annotations

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.tui.panels import Panel
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import load_theme
from tests.tui.runs import run_events


def drawn(kind: type[Panel], view: RunView, width: int = 72, height: int = 14) -> list[str]:
    """The panel's lines as text."""
    return [str(line) for line in kind(load_theme("dark")).lines(view, width, height)]


def colours_of(kind: type[Panel], view: RunView, line: int, width: int = 72, height: int = 14) -> set[str]:
    """The colours of one line."""
    segments = kind(load_theme("dark")).lines(view, width, height)[line].segments
    return {segment.style.color.name for segment in segments if segment.style and segment.style.color}


def decoded(config: LookaheadConfig, **more: object) -> RunView:
    """A whole run, its last step looked at."""
    view = RunView()
    for event in run_events(config, **more):
        view.take(event)
    return view
