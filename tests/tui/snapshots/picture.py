"""A screen as text: what each cell says, and its style in every look, in lines that people can read."""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import groupby
from unittest.mock import patch

from rich.color import Color
from rich.style import Style
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from lookahead_cli.tui.theme import Theme, load_theme
from lookahead_cli.tui.token_text import cell_width

SIZES = ((80, 24), (120, 36), (200, 60))
LOOKS = ("dark", "light", "no colour")
_ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse", "strike")

Cell = tuple[str, str]
"""What it says, and its style in words; the second cell of a wide character says nothing."""


def _colour(colour: Color | None) -> str:
    return "default" if colour is None or colour.is_default else colour.get_truecolor().hex


def _words(style: Style | None) -> str:
    style = style or Style.null()
    attributes = [name for name in _ATTRIBUTES if getattr(style, name)]
    return " ".join((_colour(style.color), "on", _colour(style.bgcolor), *attributes))


def cells_of(app: App[object]) -> list[list[Cell]]:
    """Every cell of the screen, what lies behind an open screen included."""
    width, height = app.screen.size
    rows: list[list[Cell]] = []
    for strip in app.screen._compositor.render_strips():
        row: list[Cell] = []
        for segment in strip:
            words = _words(segment.style)
            for character in segment.text:
                cells = cell_width(character)
                if cells == 0 and row:
                    row[-1] = (row[-1][0] + character, row[-1][1])
                row += [(character, words), ("", words)][:cells]
        assert len(row) == width, "".join(text for text, _ in row)
        rows.append(row)
    assert len(rows) == height
    return rows


@dataclass
class Camera:
    """Takes a screen's picture, in one look after another.

    Attributes:
        size: Columns and lines.
        look: One of `LOOKS`.
    """

    size: tuple[int, int]
    look: str = LOOKS[0]
    _taken: dict[str, list[list[list[Cell]]]] = field(default_factory=dict)

    @property
    def theme(self) -> Theme:
        """The colours; without colours the program has those of its dark theme, and their grey is shown."""
        return load_theme("light" if self.look == "light" else "dark")

    async def take(self, pilot: Pilot, name: str) -> None:
        """Take a picture once nothing on the screen changes any more; a cursor does not blink on it."""
        for kind in (Input, TextArea):
            for each in pilot.app.screen.query(kind):
                each.cursor_blink = False
        before, cells = None, cells_of(pilot.app)
        while cells != before:
            await pilot.pause()
            await pilot.pause()
            before, cells = cells, cells_of(pilot.app)
        self._taken.setdefault(name, []).append(cells)

    async def film(self, walk: Callable[[Camera], Awaitable[None]]) -> dict[str, str]:
        """Go through screens in every look; a page for each picture that was taken on the way."""
        for self.look in LOOKS:
            environment = {"NO_COLOR": "1"} if self.look == "no colour" else {}
            with patch.dict(os.environ, environment):
                await walk(self)
        return {name: _page(name, taken) for name, taken in self._taken.items()}


def _page(name: str, taken: list[list[list[Cell]]]) -> str:
    """The text, which is the same in every look, the runs of equal style in each row, and the styles."""
    assert len(taken) == len(LOOKS), name
    texts = [["".join(text for text, _ in row) for row in cells] for cells in taken]
    for look, text in zip(LOOKS, texts, strict=True):
        assert text == texts[0], f"{name} says something else in the look '{look}'"
    lines = [f"│{text}│" for text in texts[0]]
    styles: dict[str, tuple[str, ...]] = {}
    runs: list[str] = []
    for row in zip(*taken, strict=True):
        both = [tuple(words for _, words in cell) for cell in zip(*row, strict=True)]
        runs.append(" ".join(f"{_label(key, styles)}×{len(list(cells))}" for key, cells in groupby(both)))
    lines.append("")
    first = 1
    for said, alike in groupby(runs):
        last = first + len(list(alike)) - 1
        lines.append(f"{first if first == last else f'{first}-{last}'}: {said}")
        first = last + 1
    lines.append("")
    lines += [f"{label}  {' | '.join(styles[label])}" for label in sorted(styles)]
    return "\n".join(lines) + "\n"


def _label(key: tuple[str, ...], styles: dict[str, tuple[str, ...]]) -> str:
    """Three letters that are the same on every page, so that one new style changes no other one's name."""
    number = crc32("|".join(key).encode())
    while True:
        label = "".join(chr(ord("a") + number // 26**place % 26) for place in range(3))
        if styles.setdefault(label, key) == key:
            return label
        number += 1
