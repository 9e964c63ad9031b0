"""The accepted tokens: the output behind its prompt, and which of it came free of charge."""

from __future__ import annotations

from collections.abc import Sequence

from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.marks import FREE
from lookahead_cli.tui.output_layout import OutputLayout
from lookahead_cli.tui.panels.base import Panel
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme


class AcceptedPanel(Panel):
    """The output's last lines, one ground a step."""

    TITLE = "ACCEPTED TOKENS"
    LEGEND = (
        (FREE, "free", "free of charge"),
        ("underlined", "foreground", "this step"),
    )
    HELP = (
        "The end of the prompt, dimmed, and the output so far; the tokens of one step share a ground, and "
        "those of the step that is looked at are underlined. ★ marks tokens that were guessed right: they "
        "cost no step of their own. The last token of a step is the model's own next choice after them. "
        "w shows the text as it reads, without marks for whitespace. "
        "Every token here is certain: in float32 they are exactly what greedy decoding gives, one by one."
    )

    def __init__(self, theme: Theme, *, id: str | None = None) -> None:
        super().__init__(theme, id=id)
        self._output: OutputLayout | None = None
        self._laid_out: object = None
        self._rendered = False

    def turn_rendering(self) -> None:
        """Show the text as it reads, or with whitespace and free tokens marked again."""
        self._rendered = not self._rendered
        self._output = None

    def lines(self, view: RunView, width: int, height: int) -> Sequence[Line]:
        """The last lines up to the step that is looked at."""
        if view.header is None:
            return self.waiting(view, width, "output")
        if self._output is None or self._output.width != width or self._laid_out is not view.steps:
            self._output, self._laid_out = (
                OutputLayout(self.colours, width, rendered=self._rendered),
                view.steps,
            )
        self._output.extend(view)
        return self._output.lines(view.shown, height)
