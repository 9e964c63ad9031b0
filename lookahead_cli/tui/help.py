"""The help screen: what each panel says in its own words, and the keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.keys import format_key
from textual.screen import ModalScreen
from textual.widgets import Static

from lookahead_cli.tui.explained import Explained, legend_mark
from lookahead_cli.tui.theme import Theme


class HelpScreen(ModalScreen[None]):
    """Shows help texts with their legends, and the bindings' tooltips.

    Args:
        theme: The colours.
        explained: What is explained, such as panels.
        keys: The bindings that are explained; none where one part alone is asked about.
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

    def __init__(
        self, theme: Theme, explained: Iterable[type[Explained]], keys: Sequence[BindingType] = ()
    ) -> None:
        super().__init__()
        self._colours = theme
        self._explained = tuple(explained)
        self._keys = [key for key in keys if isinstance(key, Binding)]

    def compose(self) -> ComposeResult:
        """One scrollable text: the keys, and a section a panel."""
        text = self._key_section()
        for part in self._explained:
            text.append_text(self._section(part))
        text.rstrip()
        with VerticalScroll(id="help") as scroll:
            scroll.border_title = "HELP"
            scroll.border_subtitle = "↑ ↓ scroll · esc close"
            yield Static(text, markup=False)

    def _key_section(self) -> Text:
        style = self._colours.style
        text = Text()
        said = [
            (" ".join(format_key(name) for key in keys for name in key.key.split(",")), tooltip)
            for tooltip, keys in groupby(self._keys, key=lambda key: key.tooltip)
        ]
        if said:
            text.append("KEYS\n", style("accent"))
        cells = 2 + max((len(names) for names, _ in said), default=0)
        for names, tooltip in said:
            text.append(f"{names:<{cells}}", style("bonus")).append(f"{tooltip}\n", style("foreground"))
        return text.append("\n") if said else text

    def _section(self, part: type[Explained]) -> Text:
        style = self._colours.style
        text = Text().append(f"{part.TITLE}\n", style("accent"))
        for mark, role, words in part.LEGEND:
            text.append(mark, legend_mark(mark, style(role)))
            text.append(f" {words}   ", style("muted"))
        return text.append("\n" if part.LEGEND else "").append(f"{part.HELP}\n\n", style("foreground"))
