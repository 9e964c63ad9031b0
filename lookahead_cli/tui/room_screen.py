"""The model's context is full: what is to be done."""

from __future__ import annotations

from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from lookahead_cli.tui.talk import WhenFull
from lookahead_cli.tui.theme import Theme

_CHOICES: tuple[tuple[WhenFull, str, str], ...] = (
    ("drop", "Drop the oldest turns", "they stay in the session and are no longer fed"),
    ("summarise", "Summarise", "the model writes a summary, which is fed in their place"),
    ("stop", "Stop", "nothing changes; the question is in the line again"),
)


class RoomScreen(ModalScreen[WhenFull]):
    """Asks how room is to be made; `stop` where it was closed.

    Args:
        theme: The colours.
        message: What does not fit.
    """

    DEFAULT_CSS = """
    RoomScreen { align: center middle; background: $background 60%; }
    RoomScreen #room { width: 86; max-width: 96%; height: auto; border: round $primary; padding: 0 1;
        background: $surface; border-title-color: $primary; border-subtitle-color: $foreground-muted; }
    RoomScreen Static { height: auto; margin-bottom: 1; }
    RoomScreen OptionList { border: none; height: auto; padding: 0; background: $surface; }
    RoomScreen OptionList:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Stop", id="room.close", tooltip="Change nothing"),
    ]

    def __init__(self, theme: Theme, message: str) -> None:
        super().__init__()
        self._colours = theme
        self._message = message

    def compose(self) -> ComposeResult:
        """What does not fit, and what may be done."""
        with Vertical(id="room") as box:
            box.border_title = "THE CONTEXT IS FULL"
            box.border_subtitle = "↑ ↓ · enter chooses · esc stops"
            yield Static(self._message, markup=False)
            yield OptionList(*(Option(self._row(*words)) for _, *words in _CHOICES), compact=True)

    def on_mount(self) -> None:
        """The first one is marked."""
        self.query_one(OptionList).highlighted = 0

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        """Take what was chosen."""
        self.dismiss(_CHOICES[event.option_index][0])

    def action_close(self) -> None:
        """Change nothing."""
        self.dismiss("stop")

    def _row(self, does: str, says: str) -> Table:
        row = Table.grid(padding=(0, 2, 0, 0), expand=True)
        row.add_column(
            width=max(len(does) for _, does, _ in _CHOICES), style=self._colours.style("foreground")
        )
        row.add_column(ratio=1, style=self._colours.style("muted"))
        row.add_row(Text(does), Text(says))
        return row
