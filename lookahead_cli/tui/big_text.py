"""Large text: letters several rows high, the largest ones that fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from pyfiglet import FigletFont
from rich.style import Style

from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.token_text import cell_width

_FONTS = ("mono12", "smmono12", "mono9", "smblock")
_DRAWN = {"␣": "_", "×": "x"}

Block = tuple[list[str], str]
"""The rows of a piece of text, and its role."""


class Letters:
    """The letters of a font.

    Args:
        name: The font's name.
    """

    def __init__(self, name: str) -> None:
        font = FigletFont(font=name)
        self._letters: dict[int, list[str]] = font.chars
        self._height: int = font.height

    def rows(self, text: str) -> list[str]:
        """The rows of a text; what the font has no letter for stands there in its ordinary size."""
        rows = [""] * self._height
        for character in text:
            letter = self._letters.get(ord(_DRAWN.get(character, character)))
            if letter is None or not (character == " " or any(row.strip() for row in letter)):
                blank = " " * (cell_width(character) + 1)
                middle = self._height // 2
                added = [character + " " if row == middle else blank for row in range(self._height)]
            else:
                added = [letter[row].replace("$", " ") for row in range(self._height)]
            rows = [row + more for row, more in zip(rows, added, strict=True)]
        return rows


@lru_cache
def _letters(name: str) -> Letters:
    return Letters(name)


def enlarge(
    pieces: Sequence[tuple[str, str]], width: int, height: int, style: Callable[[str], Style]
) -> list[Line]:
    """Text in the largest letters in which all of it fits; in ordinary ones where it fits in none.

    Args:
        pieces: Texts with their roles; a line breaks between two of them, or within one that is too long.
        width: Cells a line.
        height: Rows there are.
        style: Styles by role.
    """
    for name in _FONTS:
        letters = _letters(name)
        lines = _placed([(letters.rows(text), role) for text, role in pieces], width)
        if lines is None:
            continue
        drawn = [line for blocks in lines for line in _drawn(blocks, width, style)]
        if len(drawn) <= height:
            return drawn
    line = Line(width)
    for text, role in pieces:
        line.add(text, style(role) + Style(bold=True))
    return [line]


def _placed(blocks: Sequence[Block], width: int) -> list[list[Block]] | None:
    """The blocks in lines; None where one of them is wider than a line."""
    lines: list[list[Block]] = [[]]
    used = 0
    for block in blocks:
        cells = cell_width(block[0][0])
        if cells > width:
            return None
        if used + cells > width:
            lines.append([])
            used = 0
        lines[-1].append(block)
        used += cells
    return lines


def _drawn(blocks: Sequence[Block], width: int, style: Callable[[str], Style]) -> list[Line]:
    """One line of blocks, without the rows above and below that all of them leave free."""
    used = [row for rows, _ in blocks for row, text in enumerate(rows) if text.strip()]
    lines = []
    for row in range(min(used), max(used) + 1) if used else ():
        line = Line(width)
        for rows, role in blocks:
            line.add(rows[row], style(role))
        lines.append(line)
    return lines
