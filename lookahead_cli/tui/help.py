"""The help screen: what each panel says in its own words, and the keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from lookahead_cli.tui.panels import Panel
from lookahead_cli.tui.theme import Theme

_SHOWN = {
    "left": "←", "right": "→", "full_stop": ".", "plus": "+", "equals_sign": "=", "minus": "-",
    "question_mark": "?", "up": "↑", "down": "↓", "comma": ",", "escape": "esc",
}  # fmt: skip


class HelpScreen(ModalScreen[None]):
    """Shows the panels' help texts and the bindings' tooltips.

    Args:
        theme: The colours.
        panels: The panels that are explained.
        keys: The bindings that are explained.
    """

    CSS = """
    HelpScreen { align: center middle; background: $background 60%; }
    #help { width: 92; max-width: 96%; height: auto; max-height: 94%; border: round $primary; padding: 0 2;
            background: $surface; border-title-color: $primary; border-subtitle-color: $foreground-muted;
            scrollbar-size-vertical: 1; scrollbar-background: $surface; scrollbar-color: $primary 50%; }
    #help Static { padding-right: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,question_mark,q,space,enter",
            "dismiss",
            "Close",
            id="help.close",
            tooltip="Close the help",
        )
    ]

    def __init__(self, theme: Theme, panels: Iterable[type[Panel]], keys: Sequence[BindingType]) -> None:
        super().__init__()
        self._colours = theme
        self._panels = tuple(panels)
        self._keys = [key for key in keys if isinstance(key, Binding)]

    def compose(self) -> ComposeResult:
        """One scrollable text."""
        style = self._colours.style
        text = Text().append("KEYS\n", style("accent"))
        said = [
            (" ".join(_SHOWN.get(name, name) for key in keys for name in key.key.split(",")), tooltip)
            for tooltip, keys in groupby(self._keys, key=lambda key: key.tooltip)
        ]
        cells = 2 + max((len(names) for names, _ in said), default=0)
        for names, tooltip in said:
            text.append(f"{names:<{cells}}", style("bonus")).append(f"{tooltip}\n", style("foreground"))
        for panel in self._panels:
            text.append(f"\n{panel.TITLE}\n", style("accent")).append(f"{panel.HELP}\n", style("foreground"))
        text.rstrip()
        with VerticalScroll(id="help") as scroll:
            scroll.border_title = "HELP"
            scroll.border_subtitle = "↑ ↓ scroll · esc close"
            yield Static(text, markup=False)
