"""The 2D Jacobi window: guesses for the next positions, the oldest row on top."""

from __future__ import annotations

from rich.style import Style

from lookahead_cli.decoding.records import PoolChange, Step, WindowRecord
from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.marks import KNOWN, MATCHED, NEW, TURNED_OUT
from lookahead_cli.tui.panels.base import Panel
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.token_text import visible

LABEL_CELLS = 4
NARROWEST_CELL, WIDEST_CELL = 6, 13
_MORE_CELLS = 5
_POINTED = Style(reverse=True)


def cells_for(columns: int, width: int) -> int:
    """Width of one window cell where all `columns` share `width`; below `NARROWEST_CELL` not all fit."""
    return min(WIDEST_CELL, (width - LABEL_CELLS) // max(1, columns))


class WindowPanel(Panel):
    """The window before the step, the new row, and the n-grams that were collected.

    Args:
        theme: The colours.
        id: The widget's id.

    Attributes:
        pointed: Cells (row, column) that stand out; the row after the last is the new one.
    """

    TITLE = "JACOBI WINDOW"
    LEGEND = (
        (MATCHED, "accepted", "true now"),
        (TURNED_OUT, "accepted", "true later"),
        (NEW, "pool_hit", "new"),
        (KNOWN, "muted", "known"),
        ("italic", "refilled", "random"),
    )
    HELP = (
        "Row r, column c guesses the token r + c places after the current one, which is the top left "
        "cell. Each row is one Jacobi iteration, the oldest on top; one step feeds them all and yields "
        "the row 'new'; then the oldest row leaves, and every row moves up by one. A cell sees the "
        "first row up to its column and the cells above it, and no others, since those are the text that "
        "it continues. A column read downwards, its new cell last, is an n-gram that the model could say: "
        "each step collects one a column for the pool. Cells with ✓ came true: the model's own choices "
        "walked through them. Cells with ○ were not used and turned out right: the text has that token at "
        "that place, as far as it is decoded by now. Only the current token is certain, the rest are "
        "guesses; they are never shown as text before the model has confirmed them."
    )

    def __init__(self, theme: Theme, *, id: str | None = None) -> None:
        super().__init__(theme, id=id)
        self.pointed: frozenset[tuple[int, int]] = frozenset()

    def lines(self, view: RunView, width: int, height: int) -> list[Line]:
        """Header, rows, the new row; below them the collected n-grams where there is room."""
        step = view.step
        if step is None or step.window is None:
            return self.waiting(view, width, "window")
        window = step.window
        columns = max(len(row) for row in window.rows)
        cell = max(NARROWEST_CELL, cells_for(columns, width))
        room = width - LABEL_CELLS
        shown = columns if columns * cell <= room else max(1, (room - _MORE_CELLS) // cell)
        collected = {
            change.column: change
            for change in (step.pool.changes if step.pool is not None else ())
            if change.column is not None and change.event != "evict"
        }
        lines = [self._head(columns, shown, cell, width, collected)]
        rows = range(len(window.rows))
        hidden = max(0, len(window.rows) + 2 - height)
        for row in rows:
            if hidden and row == 1:
                lines.append(self._label(f"⋮  {hidden + 1} more rows", width))
            if not hidden or row == 0 or row > hidden + 1:
                lines.append(self._row(view, step, window, row, shown, cell, width))
        lines.append(self._new(view, step, window, shown, cell, width))
        room = height - len(lines) - 2
        if room >= 1 and collected:
            lines.append(Line(width))
            lines += self._collected(view, collected, width, room)
        return lines

    def _head(
        self, columns: int, shown: int, cell: int, width: int, collected: dict[int, PoolChange]
    ) -> Line:
        style = self.style
        line = self._label("", width)
        for column in range(shown):
            change = collected.get(column)
            mark = "" if change is None else NEW if change.event == "insert" else KNOWN
            role = "pool_hit" if mark == NEW else "muted"
            line.add(f"+{column}{mark}", style(role), cells=cell)
        if shown < columns:
            line.add(f"(+{columns - shown})", style("muted"))
        return line

    def _label(self, text: str, width: int) -> Line:
        return Line(width).add(text, self.style("muted"), cells=LABEL_CELLS)

    def _row(
        self, view: RunView, step: Step, window: WindowRecord, row: int, shown: int, cell: int, width: int
    ) -> Line:
        line = self._label(f"r{row}", width)
        age = f"age_{len(window.rows) - 1 - row}"
        nodes = window.nodes[row]
        for column, token in enumerate(window.rows[row][:shown]):
            node = nodes[column]
            mark = ""
            if row == 0 and column == 0:
                role = "accent"
            elif node is not None and step.nodes[node].matched:
                role, mark = "accepted", MATCHED
            else:
                role = "refilled" if (row, column) in window.refilled else age
                mark = self._hindsight(view, step, row + column, token)
            text = "" if token is None else visible(view.token(token), cell - 1 - len(mark))
            self._add_cell(line, mark + text, role, (row, column), cell)
        return line

    def _add_cell(self, line: Line, text: str, role: str, place: tuple[int, int], cell: int) -> None:
        style = self.style(role)
        if place not in self.pointed:
            line.add(text, style, cells=cell)
            return
        # The blank between two cells stays as it is, so that neighbours that stand out are told apart.
        line.add(text, style + _POINTED, cells=cell - 1).add(" ", style)

    @staticmethod
    def _hindsight(view: RunView, step: Step, distance: int, token: int | None) -> str:
        """The mark of a cell whose token the text has at the cell's place."""
        return TURNED_OUT if token is not None and view.said(step, distance) == token else ""

    def _new(
        self, view: RunView, step: Step, window: WindowRecord, shown: int, cell: int, width: int
    ) -> Line:
        line = self._label("new", width)
        for column, token in enumerate(window.new[:shown]):
            mark = self._hindsight(view, step, len(window.rows) + column, token)
            text = "" if token is None else visible(view.token(token), cell - 1 - len(mark))
            self._add_cell(line, mark + text, "bonus", (len(window.rows), column), cell)
        return line

    def _collected(
        self, view: RunView, collected: dict[int, PoolChange], width: int, room: int
    ) -> list[Line]:
        """The n-grams of this step, each token in the colour of the row it was read from."""
        style = self.style
        lines = [Line(width).add("n-grams collected: a column, read downwards", style("muted"))]
        shown = list(collected.items())
        if len(shown) > room:
            shown = shown[: room - 1]
        for column, change in shown:
            mark, role = (NEW, "pool_hit") if change.event == "insert" else (KNOWN, "muted")
            line = Line(width).add(f"+{column}{mark}", style(role), cells=LABEL_CELLS)
            cells = max(NARROWEST_CELL, cells_for(len(change.tokens), width))
            for place, token in enumerate(change.tokens):
                line.add(visible(view.token(token), cells - 1), self._age_of(place, change), cells=cells)
            lines.append(line)
        if len(shown) < len(collected):
            lines.append(self._label(f"and {len(collected) - len(shown)} more", width))
        return lines

    def _age_of(self, place: int, change: PoolChange) -> Style:
        last = len(change.tokens) - 1
        return self.style("bonus" if place == last else f"age_{last - 1 - place}")
