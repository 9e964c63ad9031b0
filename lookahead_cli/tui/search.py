"""The search line: text to look for in the output."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input


class SearchScreen(ModalScreen[str | None]):
    """Asks for a text; gives it, or None where it was closed.

    Args:
        before: What was searched for last.
    """

    DEFAULT_CSS = """
    SearchScreen { align: left bottom; background: $background 0%; }
    SearchScreen Input { dock: bottom; height: 1; border: none; padding: 0 1; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close", id="search.close")]

    def __init__(self, before: str) -> None:
        super().__init__()
        self._before = before

    def compose(self) -> ComposeResult:
        """One line."""
        yield Input(self._before, placeholder="find in the output", compact=True)

    @on(Input.Submitted)
    def find(self, event: Input.Submitted) -> None:
        """Take the text."""
        self.dismiss(event.value or None)

    def action_close(self) -> None:
        """Search for nothing."""
        self.dismiss(None)
