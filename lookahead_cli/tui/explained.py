"""What a part of the screen says of itself: its title, its legend, and its help text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol, runtime_checkable

from rich.style import Style
from textual.screen import Screen
from textual.widget import Widget

Legend = tuple[tuple[str, str, str], ...]
"""Mark, role and meaning; a mark of letters is the name of a style of text."""

_LETTERS = {"italic": Style(italic=True), "underlined": Style(underline=True)}


class Explained(Widget):
    """A part of a screen that says in its own words what it shows."""

    TITLE: ClassVar[str] = ""
    LEGEND: ClassVar[Legend] = ()
    HELP: ClassVar[str] = ""


@runtime_checkable
class Explaining(Protocol):
    """A screen that says which of its parts can be explained."""

    EXPLAINS: ClassVar[Sequence[type[Explained]]]


def explained_on(screen: Screen[object]) -> Sequence[type[Explained]]:
    """The parts of a screen that have a help text, in the order of reading."""
    return screen.EXPLAINS if isinstance(screen, Explaining) else ()


def legend_mark(mark: str, style: Style) -> Style:
    """How a legend's mark looks in a style: the name of a style of text looks like it."""
    return style + _LETTERS.get(mark, Style.null())
