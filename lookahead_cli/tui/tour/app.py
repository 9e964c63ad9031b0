"""The full-screen program of the tour."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from lookahead_cli.tui.commands import commands_of
from lookahead_cli.tui.explained import explained_on
from lookahead_cli.tui.help import HelpScreen
from lookahead_cli.tui.terminal import end_with_terminal
from lookahead_cli.tui.textual_theme import textual_theme
from lookahead_cli.tui.theme import Theme, load_theme_or_default
from lookahead_cli.tui.tour.screen import TourScreen
from lookahead_cli.tui.tour.traces import TourRuns

_APP_KEYS: list[BindingType] = [
    Binding("question_mark", "help", "Help", id="app.help", key_display="?", tooltip="What the panels say"),
    Binding("q", "leave", "Quit", id="app.quit", tooltip="Leave the tour"),
    Binding(
        "ctrl+c",
        "interrupt",
        "Quit",
        id="app.stop",
        show=False,
        priority=True,
        tooltip="The same, with exit code 130",
    ),
    Binding("ctrl+q", "leave", "Quit", id="app.close", show=False, priority=True, tooltip="The same"),
]


class TourApp(App[None]):
    """Shows the lesson.

    Args:
        theme: The colours.
        runs: The recorded runs.
        first: The stop to begin with, from 0.
        notice: A sentence to show at the start.
    """

    TITLE = "lookahead tour"
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = _APP_KEYS

    def __init__(self, theme: Theme, runs: TourRuns, first: int = 0, *, notice: str | None = None) -> None:
        super().__init__()
        self.colours = theme
        self.interrupted = False
        self.tour_screen = TourScreen(theme, runs, first)
        self._notice = notice

    def get_default_screen(self) -> TourScreen:
        """The screen of the stops."""
        return self.tour_screen

    def on_mount(self) -> None:
        """Put on the colours."""
        self.register_theme(textual_theme(self.colours))
        self.theme = "lookahead"
        if self._notice is not None:
            self.notify(self._notice, severity="warning", timeout=10, markup=False)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action, for the command palette."""
        yield from commands_of(screen, self.colours)

    def action_help(self) -> None:
        """Say what the keys do and what the panels mean."""
        if not isinstance(self.screen, HelpScreen):
            own = [key for key in self.screen.BINDINGS if isinstance(key, Binding)]
            taken = {name for key in own for name in key.key.split(",")}
            said = [key for key in own if key.tooltip]
            ours = [key for key in _APP_KEYS if isinstance(key, Binding) and key.key not in taken]
            self.push_screen(HelpScreen(self.colours, explained_on(self.screen), [*said, *ours]))

    def action_leave(self) -> None:
        """Leave."""
        self.exit()

    def action_interrupt(self) -> None:
        """Leave, and say that it was not seen to its end."""
        self.interrupted = True
        self.exit()


def run_tour(*, theme: str | None, first: int) -> bool:
    """Show the lesson on the whole terminal until the person leaves.

    Args:
        theme: A theme's name or file, None for the default.
        first: The stop to begin with, from 0.

    Returns:
        True where Ctrl+C ended it.

    Raises:
        UsageError: There is no theme of that name.
        InputError: A recorded run of the tour is missing or damaged.
    """
    colours, complaint = load_theme_or_default(theme)
    runs = TourRuns()
    runs.read_all()
    end_with_terminal()
    app = TourApp(colours, runs, first, notice=complaint)
    app.run()
    return app.interrupted
