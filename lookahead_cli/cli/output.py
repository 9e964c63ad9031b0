"""Where a run is shown: the full screen, the plain printer, or JSON lines."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Literal

from lookahead_cli.cli.console import (
    StderrProgress,
    note,
    output_console,
    without_controls,
    writing_output,
)
from lookahead_cli.cli.summary import exit_code, summary_lines
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import ExitCode, UsageError
from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent, TokenText

if TYPE_CHECKING:
    from lookahead_cli.tui.source import Rival, RunSource

View = Literal["screen", "plain", "compact", "json"]


@dataclass(frozen=True, slots=True)
class Output:
    """How a run is shown.

    Attributes:
        view: The full screen, the plain printer, its one-line form, or JSON lines.
        theme: A theme's name or file, None for the default.
        paused: Start the full screen paused.
        speed: Steps a second on the full screen, None for as fast as the model.
        race: True to race against other methods.
        presenter: True to begin the full screen with the presenter layout.
    """

    view: View
    theme: str | None = None
    paused: bool = False
    speed: float | None = None
    race: bool = False
    presenter: bool = False


def choose_view(*, plain: bool, compact: bool, json: bool) -> View:
    """The view that was asked for, or the full screen where standard output is a terminal that can show it.

    Raises:
        UsageError: Two views were asked for.
    """
    if json and (plain or compact):
        other = "--plain" if plain else "--compact"
        raise UsageError(f"--json and {other} both want standard output.", "Choose one of them.")
    if json:
        return "json"
    if compact:
        return "compact"
    return "plain" if plain or not can_show_a_screen() else "screen"


def can_show_a_screen() -> bool:
    """True where standard output is a terminal on which text can be placed, or a browser shows it."""
    return in_browser() or (sys.stdout.isatty() and os.environ.get("TERM") not in {"dumb", "unknown"})


def in_browser() -> bool:
    """True where the screen goes to a browser through the standard streams."""
    return os.environ.get("TEXTUAL_DRIVER", "").endswith("WebDriver")


def show(source: RunSource, output: Output) -> ExitCode:
    """Run a source to its end and show it.

    Returns:
        The exit code: interrupted, a mismatch with greedy decoding in float32, or fine.

    Raises:
        LookaheadError: The source failed, or standard output cannot be written.
    """
    with ExitStack() as stack:
        view = output.view
        if view == "screen" and not in_browser() and not sys.stdin.isatty():
            from lookahead_cli.tui.terminal import keyboard_from_terminal

            # The prompt came through standard input, so the keys have to come from the terminal itself.
            if not stack.enter_context(keyboard_from_terminal()):
                view = "plain"
        if view == "screen":
            return _on_screen(source, output)
    if output.race:
        from lookahead_cli.cli.race import race_as_lines

        return race_as_lines(source)
    return _as_lines(source, output, view)


class WatchedSource:
    """A source that remembers what its end is told with.

    Attributes:
        header: The run's header, None before it came.
        footer: The run's footer, None before it came.
        tokens: Text of every token id seen.
    """

    def __init__(self, source: RunSource) -> None:
        self._source = source
        self.header: Header | None = None
        self.footer: Footer | None = None
        self.tokens: dict[int, TokenText] = {}

    @property
    def title(self) -> str:
        """What is run."""
        return self._source.title

    @property
    def recorded(self) -> bool:
        """True where the run is over and only shown again."""
        return self._source.recorded

    @property
    def config(self) -> LookaheadConfig | None:
        """The settings of the next run, None for a recording."""
        return self._source.config

    def change(self, config: LookaheadConfig) -> None:
        """Take settings for the next run."""
        self._source.change(config)

    def rivals(self) -> Sequence[Rival]:
        """Who races beside it."""
        return self._source.rivals()

    def events(
        self, cancel: threading.Event, report: Callable[[Progress], None]
    ) -> Iterator[Header | StepEvent | Footer]:
        """The source's own events."""
        events = self._source.events(cancel, report)
        try:
            for event in events:
                self.tokens.update(event.tokens)
                if isinstance(event, Header):
                    self.header = event
                elif isinstance(event, Footer):
                    self.footer = event
                yield event
        finally:
            # A consumer that stops early closes the run, so that its trace gets an end.
            close = getattr(events, "close", None)
            if close is not None:
                close()

    def ending(self) -> list[str]:
        """The lines at the end of the run, none for a run without an end."""
        if self.footer is None:
            return []
        return summary_lines(self.footer, self._token)

    def exit_code(self) -> ExitCode:
        """The exit code of the run; one that is only shown again cannot fail."""
        return ExitCode.OK if self.recorded else exit_code(self.header, self.footer)

    def _token(self, token: int) -> str:
        from lookahead_cli.tui.token_text import visible

        return f"'{visible(self.tokens[token])}'" if token in self.tokens else f"#{token}"


def _on_screen(source: RunSource, output: Output) -> ExitCode:
    from lookahead_cli.tui.app import run_visualize

    watched = WatchedSource(source)
    interrupted, race = run_visualize(
        watched,
        theme=output.theme,
        paused=output.paused,
        speed=output.speed,
        race=output.race,
        presenter=output.presenter,
    )
    warn(source)
    for line in () if in_browser() else watched.ending():
        print(without_controls(line))
    code = watched.exit_code()
    if race is not None:
        from lookahead_cli.cli.race import exit_code_of, print_race

        if not in_browser():
            print_race(race)
        code = code or exit_code_of(race)
    return ExitCode.INTERRUPTED if interrupted else code


def _as_lines(source: RunSource, output: Output, view: View) -> ExitCode:
    watched = WatchedSource(source)
    cancel = threading.Event()
    with StderrProgress() as progress, ExitStack() as stack:
        consume = _json_writer() if view == "json" else _plain_printer(output, compact=view == "compact")
        for event in watched.events(cancel, progress):
            if isinstance(event, Header):
                # From here on there is something to keep, so Ctrl+C ends the run with its footer.
                stack.enter_context(interrupt_sets(cancel))
            progress.clear()
            consume(event)
    warn(source)
    return ExitCode.INTERRUPTED if cancel.is_set() else watched.exit_code()


def _plain_printer(output: Output, *, compact: bool) -> Callable[[Header | StepEvent | Footer], None]:
    from lookahead_cli.cli.plain import PlainPrinter
    from lookahead_cli.tui.theme import load_theme_or_default

    return PlainPrinter(output_console(), load_theme_or_default(output.theme)[0].style, compact=compact).show


def _json_writer() -> Callable[[Header | StepEvent | Footer], None]:
    from lookahead_cli.trace.writer import TraceWriter

    writer = TraceWriter(sys.stdout)

    def write(event: Header | StepEvent | Footer) -> None:
        with writing_output():
            writer.write(event)

    return write


@contextmanager
def interrupt_sets(cancel: threading.Event) -> Iterator[None]:
    """Let the first Ctrl+C end the run within one step; a second one ends the program."""

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def warn(source: RunSource) -> None:
    """Say what the source could not do, on standard error."""
    for warning in getattr(source, "warnings", ()):
        note(f"lookahead: {warning}")
