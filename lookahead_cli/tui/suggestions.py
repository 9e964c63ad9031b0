"""The list above the input line: the ways to finish what was begun."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from rich.table import Table
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from lookahead_cli.tui.slash import Offer
from lookahead_cli.tui.theme import Theme


class Suggestions(OptionList, can_focus=False):
    """Shows offers; it is there while there are some.

    Args:
        theme: The colours.
    """

    DEFAULT_CSS = """
    Suggestions { display: none; height: auto; max-height: 8; border: none; padding: 0 1;
                  background: $surface; scrollbar-size-vertical: 1; scrollbar-color: $primary 50%;
                  scrollbar-background: $surface; }
    Suggestions.-textual-compact { padding: 0 1; }
    Suggestions.-open { display: block; }
    Suggestions:focus { border: none; }
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(id="suggestions", compact=True, markup=False)
        self._colours = theme
        self._offers: list[Offer] = []

    @property
    def is_open(self) -> bool:
        """True while something is offered."""
        return bool(self._offers)

    @property
    def chosen(self) -> str | None:
        """The line that was chosen with the keys, None for none."""
        return None if self.highlighted is None or not self._offers else self._offers[self.highlighted].line

    @property
    def common(self) -> str:
        """What all offers begin with."""
        lines = sorted(offer.line for offer in self._offers)
        same = (
            takewhile(lambda pair: pair[0] == pair[1], zip(lines[0], lines[-1], strict=False))
            if lines
            else ()
        )
        return "".join(letter for letter, _ in same)

    def offer(self, offers: Sequence[Offer]) -> None:
        """Show other offers, none of them chosen; no offers close the list."""
        if list(offers) == self._offers:
            return
        self._offers = list(offers)
        self.set_class(self.is_open, "-open")
        self.clear_options()
        width = max((len(offer.usage) for offer in offers), default=0)
        self.add_options([Option(self._row(offer, width)) for offer in offers])
        self.highlighted = None

    def line_of(self, index: int) -> str:
        """The line of an offer."""
        return self._offers[index].line

    def move(self, by: int) -> None:
        """Choose the next offer, or the one before."""
        now = self.highlighted
        start = -1 if now is None and by > 0 else len(self._offers) if now is None else now
        self.highlighted = (start + by) % len(self._offers)

    def _row(self, offer: Offer, width: int) -> Table:
        row = Table.grid(padding=(0, 2), expand=True)
        row.add_column(width=width, no_wrap=True, style=self._colours.style("accent"))
        row.add_column(no_wrap=True, overflow="ellipsis", ratio=1, style=self._colours.style("muted"))
        row.add_row(offer.usage, offer.says)
        return row
