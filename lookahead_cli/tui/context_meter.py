"""How much of the model's context the conversation uses, always in sight."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text
from textual.widgets import Static

from lookahead_cli.tui.run_screen import NARROW
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.talk import ContextUse, WhenFull
from lookahead_cli.tui.theme import Theme

WARNING_SHARE = 0.8
_CELLS = 10
WHEN_FULL: Mapping[WhenFull, str] = {
    "ask": "When it is full you are asked what to do.",
    "drop": "When it is full the oldest turns are dropped.",
    "summarise": "When it is full the model summarises what was said.",
    "stop": "When it is full nothing more is answered.",
}
"""What a person is told of each before it comes to that."""


class ContextMeter(Static):
    """A bar and two numbers; the bar is left out on a narrow screen.

    Args:
        theme: The colours.
    """

    DEFAULT_CSS = """
    ContextMeter { width: auto; height: 1; padding: 0 0 0 1; }
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(id="context", markup=False)
        self._colours = theme

    def show(self, use: ContextUse | None) -> None:
        """Show how much is used; nothing until that is known."""
        self.update("" if use is None else self._words(use))

    def _words(self, use: ContextUse) -> Text:
        style = self._colours.style
        if use.limit is None:
            return Text(f"context {use.used:,} tokens", style("muted"))
        is_near = use.share >= WARNING_SHARE
        colour = style("rejected" if is_near else "accepted")
        text = Text()
        if self.app.size.width >= NARROW:
            full = min(_CELLS, round(_CELLS * use.share))
            text.append("context ", style("muted"))
            text.append("━" * full, colour).append("─" * (_CELLS - full) + " ", style("muted"))
        text.append(f"{use.used:,}", colour).append(f"/{use.limit:,}", style("muted"))
        return text.append(f" {'!' if is_near else ''}{100 * use.share:.0f} %", colour)


def use_of(view: RunView, limit: int | None) -> ContextUse | None:
    """What a run that goes on uses; None before its prompt was fed."""
    if view.header is None:
        return None
    emitted = view.totals[-1].emitted if view.totals else 0
    return ContextUse(len(view.header.prompt_ids) + emitted, limit)
