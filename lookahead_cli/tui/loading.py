"""What goes on before the first step: importing, fetching, loading, reading the prompt."""

from __future__ import annotations

import time

from lookahead_cli.trace.events import Progress
from lookahead_cli.trace.words import amount
from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.marks import MATCHED
from lookahead_cli.tui.panels.base import Panel
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.token_text import visible_text

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_BAR_CELLS = 30


class LoadingPanel(Panel):
    """One line a piece of work: done with its seconds, or going on with its bar.

    Args:
        theme: The colours.
        what: What is being got ready.
        id: The widget's id.
    """

    TITLE = "GETTING READY"
    LEGEND = ((MATCHED, "accepted", "done"),)

    def __init__(self, theme: Theme, what: str, *, id: str | None = None) -> None:
        super().__init__(theme, id=id)
        self._what = what
        self._done: list[tuple[str, float]] = []
        self._now: Progress | None = None
        self._since = time.monotonic()

    def take(self, progress: Progress) -> None:
        """Take news of the work; a new label means that the work before is done."""
        if self._now is None or progress.label != self._now.label:
            self._finish()
        self._now = progress

    def _finish(self) -> None:
        now = time.monotonic()
        if self._now is not None:
            self._done.append((self._now.label, now - self._since))
        self._since = now

    def lines(self, view: RunView, width: int, height: int) -> list[Line]:
        """What is done, and what goes on."""
        style = self.style
        lines = [Line(width).add(_words(self._what), style("accent")), Line(width)]
        for label, seconds in self._done[-max(1, height - 4) :]:
            line = Line(width).add(f"{MATCHED} ", style("accepted")).add(_words(label), style("foreground"))
            lines.append(line.add(f"  {seconds:.1f} s", style("muted")))
        if self._now is not None:
            elapsed = time.monotonic() - self._since
            turn = _SPINNER[int(elapsed * 10) % len(_SPINNER)]
            line = (
                Line(width).add(f"{turn} ", style("bonus")).add(_words(self._now.label), style("foreground"))
            )
            lines.append(line.add(f"  {elapsed:.0f} s", style("muted")))
            if self._now.total:
                lines.append(self._bar(self._now, self._now.total, width))
        return lines

    def _bar(self, progress: Progress, total: float, width: int) -> Line:
        style = self.style
        share = max(0.0, min(1.0, progress.done / total))
        cells = min(_BAR_CELLS, max(4, width - 24))
        full = round(cells * share)
        line = Line(width).add("  ", style("muted")).add("━" * full, style("accent"))
        line.add("━" * (cells - full), style("muted"))
        return line.add(f" {100 * share:.0f} %  {amount(progress)}", style("muted"))


def _words(text: str) -> str:
    return visible_text(text).replace("␣", " ")
