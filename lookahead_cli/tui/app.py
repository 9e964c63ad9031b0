"""The full-screen program: a run, live or recorded, forwards and backwards."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterable
from typing import ClassVar

from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import LookaheadError
from lookahead_cli.trace.events import Header, Progress
from lookahead_cli.trace.settings import settings_words
from lookahead_cli.tui.commands import commands_of
from lookahead_cli.tui.feed import Feed
from lookahead_cli.tui.help import HelpScreen
from lookahead_cli.tui.keys import RUN_KEYS
from lookahead_cli.tui.playback import Playback
from lookahead_cli.tui.race.lanes import Lane, Race
from lookahead_cli.tui.race.screen import RaceScreen
from lookahead_cli.tui.run_control import REDRAWS_A_SECOND, RunControl
from lookahead_cli.tui.run_screen import RunScreen
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.settings_screen import SettingsScreen
from lookahead_cli.tui.source import RunSource
from lookahead_cli.tui.terminal import end_with_terminal
from lookahead_cli.tui.textual_theme import textual_theme
from lookahead_cli.tui.theme import Theme, load_theme_or_default
from lookahead_cli.tui.title import PlayState

_FAILURE_SECONDS = 60


class VisualizeApp(App[None], RunControl):
    """Shows a run.

    Args:
        source: Where the run comes from.
        theme: The colours.
        paused: Start paused.
        speed: Steps a second, `math.inf` for no limit; None for the source's own: a live run has no limit.
        exit_when_done: Leave at the end of the run.
        race: Race as soon as the prompt is fed.
        presenter: Begin with the presenter layout.
        notice: A sentence to show at the start.
    """

    TITLE = "lookahead"
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = RUN_KEYS

    class News(Message):
        """The run gave something new."""

    def __init__(
        self,
        source: RunSource,
        theme: Theme,
        *,
        paused: bool = False,
        speed: float | None = None,
        exit_when_done: bool = False,
        race: bool = False,
        presenter: bool = False,
        notice: str | None = None,
    ) -> None:
        super().__init__()
        self.view = RunView(recorded=source.recorded)
        self.interrupted = False
        self.colours = theme
        self._source = source
        self._exit_when_done = exit_when_done
        self._notice = notice
        self.playback = Playback(self.view, paused=paused, speed=speed)
        self._feed = self._new_feed()
        self._next: LookaheadConfig | None = None
        self._races = race
        self._measured: dict[Hashable, Lane] = {}
        self.race: Race | None = None
        self.run_screen = RunScreen(theme, source.title, self.view)
        self.run_screen.set_class(presenter, "-presenting")
        self._last_taken = -math.inf
        self._failure_shown = False
        self._spinner: Timer | None = None

    @property
    def failure(self) -> BaseException | None:
        """What the source raised."""
        return self._feed.failure

    def get_default_screen(self) -> RunScreen:
        """The screen of the run."""
        return self.run_screen

    def on_mount(self) -> None:
        """Put on the colours and start the run."""
        self.register_theme(textual_theme(self.colours))
        self.theme = "lookahead"
        self._spinner = self.set_interval(0.25, self.want_redraw)
        if self._notice is not None:
            self.notify(self._notice, severity="warning", timeout=10, markup=False)
        self.run_worker(self._feed.drive, thread=True, exit_on_error=False, group="run")

    def on_unmount(self) -> None:
        """However the screen is closed, the worker is let go."""
        self._feed.cancel()

    def _new_feed(self) -> Feed:
        pacer = None if self._source.recorded else self.playback.pacer
        return Feed(self._source, pacer, self._on_news)

    def _on_news(self) -> None:
        self.post_message(self.News())

    # News and redraws.

    def on_visualize_app_news(self) -> None:
        """Take what came, with what comes until the next redraw: a recording is read faster than shown."""
        left = self._last_taken + 1 / REDRAWS_A_SECOND - time.monotonic()
        if left <= 0:
            self._take_news()
        else:
            self.set_timer(left, self._take_news)

    def _take_news(self) -> None:
        self._last_taken = time.monotonic()
        news = self._feed.take()
        finished = self._feed.finished
        if finished and self._next is not None:
            self._run_again(self._next)
            return
        for event in news:
            if isinstance(event, Progress) and self.view.header is None:
                self.run_screen.loading_panel.take(event)
            else:
                self.view.take(event)
            if isinstance(event, Header):
                self._start()
        if finished and (self._feed.cancelled or (self.failure is not None and self.view.footer is None)):
            self.exit()
            return
        if finished and self.failure is not None and not self._failure_shown:
            # What was decoded before it is whole, and stays in sight.
            self._failure_shown = True
            self.notify(str(self.failure), severity="error", timeout=_FAILURE_SECONDS, markup=False)
        self.want_redraw()

    def _start(self) -> None:
        """The prompt is fed: the panels take the place of what was loaded."""
        if self._spinner is not None:
            self._spinner.stop()
        self.run_screen.start()
        if self._races:
            self._races = False
            self.action_race()

    def play_state(self) -> PlayState:
        """How the run moves on."""
        return self.playback.state(stopping=self._feed.cancelled)

    def after_redraw(self) -> None:
        """Play on; leave at the end where that was asked for."""
        super().after_redraw()
        if self._exit_when_done and self.view.at_end:
            self.exit()

    # Keys.

    def action_settings(self) -> None:
        """Ask for other settings, and run the same prompt with them."""
        config = self._source.config
        if config is None:
            self.notify("A recording cannot be run again; visualize its prompt instead.", markup=False)
        elif self.view.header is not None and self.in_front:
            self.push_screen(SettingsScreen(self.colours, config), self._take_settings)

    def _take_settings(self, config: LookaheadConfig | None) -> None:
        if config is None:
            return
        self._next = config
        if self._feed.finished:
            self._run_again(config)
        else:
            self._feed.cancel()
            self.want_redraw()

    def _run_again(self, config: LookaheadConfig) -> None:
        """The run before has ended: begin the next one, at the same speed."""
        if self.failure is not None:
            self.exit()
            return
        self._next = self.race = None
        self._source.change(config)
        self.playback.begin_again()
        self._feed = self._new_feed()
        self.run_worker(self._feed.drive, thread=True, exit_on_error=False, group="run")

    def action_race(self) -> None:
        """Race the run against greedy decoding and other methods, on the same prompt."""
        if self.view.header is None or not self.in_front:
            return
        try:
            rivals = self._source.rivals()
        except LookaheadError as error:
            self.notify(str(error), markup=False)
            return
        name = settings_words(self.view.header.config)
        self.race = Race(self.view, name, rivals, recorded=self._source.recorded, kept=self._measured)
        # A run that is held, or that goes slowly to be watched, is a lane as soon as it has ended.
        self.playback.pacer.hurry(True)
        screen = RaceScreen(
            self.colours,
            self.race,
            lambda: self._feed.finished,
            presenter=self.run_screen.presenting,
        )
        self.push_screen(screen, self._after_race)

    def _after_race(self, _: None) -> None:
        self.playback.pacer.hurry(False)
        self.want_redraw()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action, for the command palette."""
        yield from commands_of(screen, self.colours)

    def action_help(self) -> None:
        """Say what the panels mean."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.colours, self.run_screen.EXPLAINS, self.BINDINGS))

    def action_interrupt(self) -> None:
        """The same, and say that it was not seen to its end."""
        self.interrupted = self.interrupted or not self.view.at_end
        self.action_leave()

    def action_leave(self) -> None:
        """Stop the run within one step and leave; asked twice, leave at once."""
        if self._feed.finished or self._feed.cancelled:
            self.exit()
        self._feed.cancel()
        self.want_redraw()


def run_visualize(
    source: RunSource,
    *,
    theme: str | None,
    paused: bool = False,
    speed: float | None = None,
    exit_when_done: bool = False,
    race: bool = False,
    presenter: bool = False,
) -> tuple[bool, Race | None]:
    """Show a run on the whole terminal until the person leaves.

    Args:
        source: The run.
        theme: A theme's name or file, None for the default.
        paused: Start paused.
        speed: Steps a second, `math.inf` for no limit; None for no limit on a live run, and a speed that
            can be watched on a recorded one.
        exit_when_done: Leave at the end of the run.
        race: Race as soon as the prompt is fed.
        presenter: Begin with the presenter layout.

    Returns:
        True where Ctrl+C stopped the run; and the race that was measured to its end, None for none.

    Raises:
        UsageError: There is no theme of that name.
        LookaheadError: What the source raised, after the screen is closed.
    """
    colours, complaint = load_theme_or_default(theme)
    end_with_terminal()
    app = VisualizeApp(
        source,
        colours,
        paused=paused,
        speed=speed,
        exit_when_done=exit_when_done,
        race=race,
        presenter=presenter,
        notice=complaint,
    )
    app.run()
    if app.failure is not None:
        raise app.failure
    return app.interrupted, app.race if app.race is not None and app.race.current is None else None
