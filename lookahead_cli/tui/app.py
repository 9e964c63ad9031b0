"""The full-screen program: a run, live or recorded, forwards and backwards."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterable
from typing import ClassVar

from textual import on
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
from lookahead_cli.tui.run_screen import RunScreen
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.search import SearchScreen
from lookahead_cli.tui.settings_screen import SettingsScreen
from lookahead_cli.tui.source import RunSource
from lookahead_cli.tui.step_screen import StepScreen
from lookahead_cli.tui.terminal import end_with_terminal
from lookahead_cli.tui.textual_theme import textual_theme
from lookahead_cli.tui.theme import Theme, load_theme_or_default
from lookahead_cli.tui.timeline import Timeline
from lookahead_cli.tui.title import PlayState, speed_words
from lookahead_cli.tui.token_text import plain_text

REDRAWS_A_SECOND = 30


class VisualizeApp(App[None]):
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
        self.redraws = 0
        self.redraw_seconds = 0.0
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
        self._searched = ""
        self._last_redraw = self._last_taken = -math.inf
        self._spinner: Timer | None = None
        self._redraw_timer: Timer | None = None

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
        if finished and (self.failure is not None or self._feed.cancelled):
            self.exit()
            return
        self.want_redraw()

    def _start(self) -> None:
        """The prompt is fed: the panels take the place of what was loaded."""
        if self._spinner is not None:
            self._spinner.stop()
        self.run_screen.start()
        if self._races:
            self._races = False
            self.action_race()

    def want_redraw(self) -> None:
        """Draw soon: at once, or when the last redraw is long enough ago."""
        if self._redraw_timer is not None:
            return
        left = self._last_redraw + 1 / REDRAWS_A_SECOND - time.monotonic()
        if left <= 0:
            self._redraw()
        else:
            self._redraw_timer = self.set_timer(left, self._redraw)

    def _redraw(self) -> None:
        self._redraw_timer = None
        now = self._last_redraw = time.monotonic()
        self.playback.advance()
        self.run_screen.draw(self._play_state())
        self.redraws += 1
        self.redraw_seconds += time.monotonic() - now
        self._after_redraw()

    def _after_redraw(self) -> None:
        view = self.view
        if self.playback.hold_at_end():
            self.run_screen.draw(self._play_state())
        elif self.playback.playing and view.steps:
            wait = 1 / min(self.playback.speed, REDRAWS_A_SECOND)
            self._redraw_timer = self.set_timer(wait, self._redraw)
        if self._exit_when_done and view.at_end:
            self.exit()

    def _play_state(self) -> PlayState:
        return self.playback.state(stopping=self._feed.cancelled)

    # Keys.

    def action_pause(self) -> None:
        """Hold the run, or let it go on; a recording at its end starts again."""
        self.playback.pause()
        self.want_redraw()

    def _go(self, index: int) -> None:
        """Look at a recorded step; a live run goes on or stays held, as it was."""
        self.playback.go(index)
        self.want_redraw()

    def action_earlier(self) -> None:
        """Look at the step before."""
        self._go(self.view.shown - 1)

    def action_forward(self) -> None:
        """Look at the next step, or let the next one run."""
        self.playback.forward()
        self.want_redraw()

    def action_first(self) -> None:
        """Look at the first step."""
        self._go(0)

    def action_last(self) -> None:
        """Follow the newest step."""
        self._go(self.view.newest)

    def action_next_multi(self) -> None:
        """Look at the next step that emitted several tokens, or run on until there is one."""
        self._after_jump(self.playback.next_multi())

    def action_previous_multi(self) -> None:
        """Look at the step before that emitted several tokens."""
        self._after_jump(self.playback.previous_multi())

    def _after_jump(self, found: bool) -> None:
        if not found:
            self.bell()
        self.want_redraw()

    def action_speed(self, by: int) -> None:
        """More or fewer steps a second."""
        self.playback.change_speed(by)
        state = self._play_state()
        if state.paused:
            self.notify(f"{speed_words(state.speed)}, once it goes on", timeout=2, markup=False)
        self.want_redraw()

    def action_inside(self, what: str) -> None:
        """Look at the step from inside: its mask, or its tree."""
        if self.view.steps and self.screen is self.run_screen:
            self.push_screen(StepScreen(self.colours, self.view, what), lambda _: self.want_redraw())

    def action_settings(self) -> None:
        """Ask for other settings, and run the same prompt with them."""
        config = self._source.config
        if config is None:
            self.notify("A recording cannot be run again; visualize its prompt instead.", markup=False)
        elif self.view.header is not None and self.screen is self.run_screen:
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
        if self.view.header is None or self.screen is not self.run_screen:
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
        self.push_screen(RaceScreen(self.colours, self.race, lambda: self._feed.finished), self._after_race)

    def _after_race(self, _: None) -> None:
        self.playback.pacer.hurry(False)
        self.want_redraw()

    def action_search(self) -> None:
        """Ask for a text, and look at the next step in which it begins."""
        if self.view.steps and self.screen is self.run_screen:
            self.push_screen(SearchScreen(self._searched), self._found)

    def _found(self, text: str | None) -> None:
        if text is None:
            return
        self._searched = text
        found = self.view.find(text)
        if found is None:
            self.notify(f"The output does not say '{plain_text(text)}'.", severity="warning", markup=False)
        else:
            self._go(found)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action, for the command palette."""
        yield from commands_of(screen, self.colours)

    def action_rendering(self) -> None:
        """Show the output as it reads, or with whitespace and free tokens marked."""
        self.run_screen.accepted_panel.turn_rendering()
        self.want_redraw()

    def action_present(self) -> None:
        """Show the presenter layout, or the panels."""
        self.run_screen.present(not self.run_screen.presenting)
        self.call_after_refresh(self.want_redraw)

    def action_zoom(self, number: int | None = None) -> None:
        """Give one panel the whole screen, or show all four."""
        self.run_screen.zoom(number)
        self.want_redraw()

    @on(Timeline.Chosen)
    def look_at_chosen(self, event: Timeline.Chosen) -> None:
        """Look at the step that was pointed at."""
        self._go(event.index)

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
