"""A list to choose from, searched as one types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from lookahead_cli.errors import LookaheadError


@dataclass(frozen=True, slots=True)
class Row:
    """Something to choose.

    Attributes:
        value: What choosing it gives.
        cells: What is shown of it, a column each.
    """

    value: str
    cells: tuple[Text, ...]


class PickScreen(ModalScreen[str | None]):
    """Asks for one of many; gives its value, or None where it was closed.

    Args:
        title: What is chosen.
        columns: The heads of the columns; the first one takes the room that the others leave.
        find: The rows for a text that was typed; called in a worker thread.
    """

    DEFAULT_CSS = """
    PickScreen { align: center middle; background: $background 60%; }
    PickScreen #pick { width: 100; max-width: 96%; height: auto; max-height: 90%; border: round $primary;
        padding: 0 1; background: $surface; border-title-color: $primary;
        border-subtitle-color: $foreground-muted; }
    PickScreen Input { border: none; height: 1; padding: 0; }
    PickScreen #heads { height: 1; margin-top: 1; color: $foreground-muted; }
    PickScreen OptionList { border: none; height: auto; max-height: 22; padding: 0 1; background: $surface;
        scrollbar-size-vertical: 1; scrollbar-color: $primary 50%; scrollbar-background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", id="pick.close", tooltip="Change nothing"),
        Binding("up", "move(-1)", "Up", id="pick.up", show=False),
        Binding("down", "move(1)", "Down", id="pick.down", show=False),
    ]

    def __init__(self, title: str, columns: Sequence[str], find: Callable[[str], Sequence[Row]]) -> None:
        super().__init__()
        self._title = title
        self._columns = columns
        self._find = find
        self._rows: Sequence[Row] = ()

    @property
    def rows(self) -> Sequence[Row]:
        """What there is to choose from now."""
        return self._rows

    def compose(self) -> ComposeResult:
        """A line to type in, and the list."""
        with Vertical(id="pick") as box:
            box.border_title = self._title
            box.border_subtitle = "type to search · ↑ ↓ · enter chooses · esc closes"
            yield Input(placeholder="search", compact=True)
            yield Static("looking …", id="heads")
            yield OptionList(compact=True, markup=False)

    def on_mount(self) -> None:
        """Everything at first; the list is moved in from the input line."""
        self.query_one(OptionList).can_focus = False
        self._look_for("")

    @on(Input.Changed)
    def search(self, event: Input.Changed) -> None:
        """Show what matches."""
        self._look_for(event.value)

    @work(thread=True, exclusive=True, exit_on_error=False)
    def _look_for(self, text: str) -> None:
        try:
            rows, complaint = self._find(text), None
        except LookaheadError as error:
            rows, complaint = (), str(error)
        self.app.call_from_thread(self._show, text, rows, complaint)

    def _show(self, text: str, rows: Sequence[Row], complaint: str | None) -> None:
        if text != self.query_one(Input).value:
            return  # Somebody typed on.
        self._rows = rows
        widths = [
            max([len(head), *(row.cells[number].cell_len for row in rows)])
            for number, head in enumerate(self._columns)
        ]
        nothing = complaint or "Nothing matches."
        heads = _grid(widths, [Text(head) for head in self._columns]) if rows else Text(nothing)
        self.query_one("#heads", Static).update(heads)
        listed = self.query_one(OptionList)
        listed.clear_options()
        listed.add_options([Option(_grid(widths, row.cells)) for row in rows])
        listed.highlighted = 0 if rows else None

    @on(Input.Submitted)
    def take(self) -> None:
        """Take the one that is marked."""
        marked = self.query_one(OptionList).highlighted
        if marked is None:
            self.app.bell()
            return
        self.dismiss(self._rows[marked].value)

    @on(OptionList.OptionSelected)
    def take_clicked(self, event: OptionList.OptionSelected) -> None:
        """Take the one that was clicked."""
        self.dismiss(self._rows[event.option_index].value)

    def action_move(self, by: int) -> None:
        """Mark the next one, or the one before."""
        listed = self.query_one(OptionList)
        if by < 0:
            listed.action_cursor_up()
        else:
            listed.action_cursor_down()

    def action_close(self) -> None:
        """Choose nothing."""
        self.dismiss(None)


def _grid(widths: Sequence[int], cells: Sequence[Text]) -> Table:
    row = Table.grid(padding=(0, 2, 0, 0), expand=True)
    row.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for width in widths[1:]:
        row.add_column(width=width, no_wrap=True)
    row.add_row(*cells)
    return row
