"""The four panels as widgets; each shows a picture of a `RunView`."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Digits, Static

from lookahead_cli.tui import pictures
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme

Picture = Callable[[RunView, Theme, int, int], Text]


class Panel(Static):
    """A bordered panel with one picture.

    Args:
        title: Shown in the border.
        help_text: What the panel says, for the help screen.
        theme: The colours.
        picture: What it shows.
    """

    def __init__(self, title: str, help_text: str, theme: Theme, picture: Picture, *, id: str) -> None:
        super().__init__(id=id, classes="panel", markup=False)
        self.border_title = title
        self.help_text = help_text
        self._theme = theme
        self._picture = picture

    def show(self, view: RunView) -> None:
        """Draw the step that `view` looks at."""
        size = self.content_size
        if size.width > 0 and size.height > 0:
            self.update(self._picture(view, self._theme, size.width, size.height))


class WindowPanel(Panel):
    """The 2D Jacobi window."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("JACOBI WINDOW", WINDOW_HELP, theme, pictures.window_picture, id="window")


class PoolPanel(Panel):
    """The n-gram pool and this step's candidates."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("N-GRAM POOL", POOL_HELP, theme, pictures.pool_picture, id="pool")


class AcceptedPanel(Panel):
    """The output, shaded by step."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("ACCEPTED TOKENS", ACCEPTED_HELP, theme, pictures.accepted_picture, id="accepted")


class MeterPanel(Vertical):
    """The compression meter: S in large digits where there is room."""

    help_text: str

    def __init__(self, theme: Theme) -> None:
        super().__init__(id="meter", classes="panel")
        self.border_title = "COMPRESSION"
        self.help_text = METER_HELP
        self._theme = theme

    def compose(self) -> ComposeResult:
        """Large digits above a few lines."""
        yield Digits("", id="ratio")
        yield Static(id="meter-lines", markup=False)

    def show(self, view: RunView) -> None:
        """Draw the figures up to the step that `view` looks at."""
        large = self.content_size.height >= 8
        digits = self.query_one(Digits)
        digits.display = large
        if large:
            digits.update(f"{view.total.compression_ratio:.2f}×")
        room = self.content_size.height - (3 if large else 0)
        self.query_one("#meter-lines", Static).update(
            pictures.meter_picture(view, self._theme, self.content_size.width, room, with_ratio=not large)
        )


WINDOW_HELP = """\
Row r, column c guesses the token r + c places after the current one, which is the top left cell. Each row is
one Jacobi iteration, the oldest on top; one step feeds them all and yields the row "new". A cell sees the
first row up to its column and the cells above it, since those are the text it continues. Cells with ✓ came
true: the model's own choices walked through them. Only the current token is certain; the rest are guesses."""
POOL_HELP = """\
Reading a column from top to bottom and the model's output below it gives one n-gram a step; so do the prompt
and the accepted text. The pool keeps the G newest for each first token. Those that begin with the current
token are candidates: all are checked in the same pass. ✓ agreed, ✗ did not; then the panel says what the
model wanted."""
ACCEPTED_HELP = """\
The output so far; tokens of one step share a ground. ★ marks tokens that were guessed right and cost no step
of their own. The last token of each step is the model's own next choice. All are exactly what greedy
decoding gives."""
METER_HELP = """\
S, the compression ratio, is tokens / steps; greedy decoding has 1.00. A step feeds many nodes, so it costs
more than greedy's: where arithmetic is scarce, as on a CPU, a larger S can still be slower. Time is compared
only when greedy was really run (--greedy)."""
