"""Text of several roles in lines that break at blanks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rich.style import Style

from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.token_text import cell_width


def wrapped(parts: Iterable[tuple[str, str]], width: int, style: Callable[[str], Style]) -> list[Line]:
    """Text in lines of at most `width` cells, broken at blanks.

    Args:
        parts: Pieces of text with their roles.
        width: Cells a line.
        style: Styles by role.
    """
    lines = [Line(width)]
    for word in _words(parts):
        cells = sum(cell_width(text) for text, _ in word)
        if lines[-1].width and lines[-1].width + 1 + cells > width:
            lines.append(Line(width))
        elif lines[-1].width:
            lines[-1].add(" ", style("foreground"))
        for text, role in word:
            lines[-1].add(text, style(role))
    return lines


def _words(parts: Iterable[tuple[str, str]]) -> Iterable[Sequence[tuple[str, str]]]:
    """Words, each in pieces of one role: a figure and the comma after it are not torn apart."""
    word: list[tuple[str, str]] = []
    for text, role in parts:
        for index, piece in enumerate(text.split(" ")):
            if index and word:
                yield word
                word = []
            if piece:
                word.append((piece, role))
    if word:
        yield word
