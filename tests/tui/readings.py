"""Figures read off the screen: what a panel says, whatever the place and the order it says it in.

A reading is None, or empty, where the screen has no room for the figure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich.style import Style
from textual.pilot import Pilot
from textual.renderables.digits import Digits
from textual.widget import Widget
from wcwidth import wcwidth

WORD = r"\S+"
_NUMBER = r"(\d+(?:\.\d+)?)"


def panel_lines(pilot: Pilot, panel: Widget) -> list[str]:
    """The part of the real screen that a panel covers, without its frame, a character a cell or two."""
    region = panel.region
    rows = pilot.app.screen._compositor.render_strips()[region.y : region.bottom]
    lines = [row.crop(region.x, region.right).text for row in rows]
    title, *inside = lines
    if title.startswith("╭"):
        assert all(line[0] == line[-1] == "│" for line in inside[:-1]), inside
        return [line[2:-1].rstrip() for line in inside[:-1]]
    return [line.rstrip() for line in inside]


def panel_text(pilot: Pilot, panel: Widget) -> str:
    return "\n".join(panel_lines(pilot, panel))


def is_rounded(shown: str, value: float) -> bool:
    """True where `shown` is `value` rounded to the digits that it has."""
    digits = len(shown.partition(".")[2])
    return abs(float(shown) - value) <= 0.5 * 10**-digits + 1e-9


def is_cut(shown: str, whole: str) -> bool:
    """True where `shown` is `whole`, or what is left of it around an ellipsis."""
    head, dots, tail = shown.partition("…")
    if not dots:
        return shown == whole
    return whole.startswith(head) and whole.endswith(tail) and len(head + tail) < len(whole)


def cells(line: str) -> list[str]:
    """The line cell by cell: a wide character is followed by an empty cell, a mark stays with its letter."""
    taken: list[str] = []
    for character in line:
        width = max(0, wcwidth(character))
        if width:
            taken += [character] + [""] * (width - 1)
        elif taken:
            taken[-1] += character
    return taken


def number_after(text: str, pattern: str) -> str | None:
    """The first number after `pattern`."""
    found = re.search(pattern + _NUMBER, text, re.MULTILINE)
    return found[1] if found else None


def numbers(text: str, pattern: str) -> tuple[str, ...] | None:
    """The groups of `pattern`, in which `#` stands for a number."""
    found = re.search(pattern.replace("#", _NUMBER), text)
    return found.groups() if found else None


# The meter.


def _glyphs() -> dict[tuple[str, ...], str]:
    table = {}
    for digit in "0123456789x":
        rows = "".join(segment.text for segment in Digits(digit).render(Style(bold=True))).split("\n")[:3]
        table[tuple(rows)] = digit
    return table


_GLYPHS = _glyphs()


def large_digits(lines: Sequence[str]) -> str | None:
    """The number in the digits of three lines, up to its ×."""
    said, at = "", 0
    three = [line.ljust(40) for line in lines[:3]]
    while at < 30 and len(three) == 3:
        if three[2][at] == "•":
            said, at = said + ".", at + 1
            continue
        digit = _GLYPHS.get(tuple(row[at : at + 3] for row in three))
        if digit in (None, "x"):
            return said or None
        said, at = said + digit, at + 3
    return None


def ratio(lines: Sequence[str]) -> str | None:
    """S, in large digits or in small ones."""
    return large_digits(lines) or number_after("\n".join(lines), "^(?=\\d+\\.\\d+×)")


def histogram(text: str) -> dict[int, int]:
    """Steps by tokens, from bars below each other or on one line."""
    below = re.findall(r"^(\d+) tokens? +█* ?(\d+) steps?$", text, re.MULTILINE)
    if below:
        return {int(tokens): int(count) for tokens, count in below}
    line = re.search(r"accepted a step((?:  \d+[ ▁▂▃▄▅▆▇█]\d+)+)", text)
    pairs = re.findall(r"(\d+)[ ▁▂▃▄▅▆▇█](\d+)", line[1]) if line else []
    return {int(tokens): int(count) for tokens, count in pairs}


def credits(text: str) -> dict[str, int]:
    """Who guessed the free tokens, from `free  7: prompt 4, window cells 3`."""
    found = re.search(r"^free +\d+: ((?:.+)(?:\n {8,}.+)*)", text, re.MULTILINE)
    parts = re.split(r",\s+", found[1]) if found else []
    return {name: int(count) for name, _, count in (part.rpartition(" ") for part in parts)}


# The pool.


@dataclass(frozen=True)
class ReadCandidate:
    """A candidate as the pool panel shows it."""

    marks: str
    tokens: tuple[str, ...]
    source: str
    seen_in_step: int | None
    wanted: tuple[str, str] | None
    got: tuple[str, str] | None


_CANDIDATE = re.compile(
    rf"^([✓✗·]+)  ((?:{WORD} +)+?)(window|output|prompt|file|recycled|draft)(?:, step (\d+))?(?= |$)(.*)"
)
_REASON = re.compile(rf"wanted ({WORD}) \((\d\.\d\d)\), not ({WORD}) \((\d\.\d\d)\)")


def candidates(lines: Sequence[str]) -> list[ReadCandidate]:
    """Every candidate on the panel, with the reason beside or below it where that is whole."""
    read = []
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        found = _CANDIDATE.match(line)
        if found is None:
            continue
        marks, tokens, source, step, rest = found.groups()
        reason = _REASON.search(rest) or (_REASON.search(below) if below.startswith("  ") else None)
        wanted, got = ((reason[1], reason[2]), (reason[3], reason[4])) if reason else (None, None)
        seen = None if step is None else int(step)
        read.append(ReadCandidate(marks, tuple(tokens.split()), source, seen, wanted, got))
    return read


def changes(lines: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The n-grams that came and those that made room."""
    found = [
        re.match(rf"([▾−]) ((?:{WORD} +)+?)(?:window|output|prompt|file|dropped)", line) for line in lines
    ]
    return [("insert" if one[1] == "▾" else "evict", tuple(one[2].split())) for one in found if one]


# The window.


def window(lines: Sequence[str]) -> tuple[dict[int, dict[int, str]], dict[int, str]]:
    """Rows by number, each cell by column, as shown; and the new row."""
    head = next((line for line in lines if re.match(r" +\+0", line)), None)
    if head is None:
        return {}, {}
    starts = [(int(found[1]), found.start()) for found in re.finditer(r"(?<!\()\+(\d+)", head)]
    width = starts[1][1] - starts[0][1] if len(starts) > 1 else 13
    rows: dict[int, dict[int, str]] = {}
    new: dict[int, str] = {}
    for line in lines:
        named = re.match(r"r(\d+) |new ", line)
        if named is None:
            continue
        by_cell = cells(line)
        row = {column: "".join(by_cell[at : at + width]).strip() for column, at in starts}
        if named[1] is None:
            new = row
        else:
            rows[int(named[1])] = row
    return rows, new


def collected(lines: Sequence[str]) -> dict[int, tuple[bool, tuple[str, ...]]]:
    """The n-grams below the window, by column: whether each is new, and its tokens."""
    found = [re.match(rf"\+(\d+)([▾↻]) *({WORD}(?: +{WORD})+)", line) for line in lines]
    shown = [one for one in found if one and not re.match(r"\+\d+[▾↻]? +\+", one[0])]
    return {int(one[1]): (one[2] == "▾", tuple(one[3].split())) for one in shown}
