"""The full-screen program: a run, live or recorded, forwards and backwards."""

from __future__ import annotations

import threading
from collections import deque
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, VerticalScroll
from textual.events import Resize
from textual.screen import ModalScreen
from textual.theme import Theme as TextualTheme
from textual.widgets import Footer as KeyBar
from textual.widgets import Static

from lookahead_cli.errors import LookaheadError
from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent
from lookahead_cli.tui import panels
from lookahead_cli.tui.pacing import Pacer
from lookahead_cli.tui.pictures import timeline_picture
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.source import RunSource
from lookahead_cli.tui.theme import Theme, load_theme_or_default
from lookahead_cli.tui.token_text import visible_text

REDRAWS_A_SECOND = 30


class _StoppedError(LookaheadError):
    """The person left while the model was being loaded."""


class HelpScreen(ModalScreen[None]):
    """What each panel says, and the keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q", "dismiss", "Close")]

    def compose(self) -> ComposeResult:
        """One scrollable text."""
        keys = "space pause · ←/→ step · home/end · n next multi-token step · +/- speed · q quit"
        text = Text().append("KEYS\n", "bold").append(keys + "\n")
        for title, words in (
            ("JACOBI WINDOW", panels.WINDOW_HELP),
            ("N-GRAM POOL", panels.POOL_HELP),
            ("ACCEPTED TOKENS", panels.ACCEPTED_HELP),
            ("COMPRESSION", panels.METER_HELP),
        ):
            text.append(f"\n{title}\n", "bold").append(words.replace("\n", " ") + "\n")
        with VerticalScroll(id="help"):
            yield Static(text)


class VisualizeApp(App[None]):
    """Shows a run.

    Args:
        source: Where the run comes from.
        theme: The colours.
        paused: Start paused.
        speed: Steps a second, None for as fast as the model.
        exit_when_done: Leave at the end of the run.
    """

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { layout: vertical; }
    #title { height: 1; text-style: bold; }
    #panels { height: 1fr; grid-size: 2 2; grid-columns: 3fr 2fr; grid-rows: 1fr 1fr; }
    .panel { border: round $primary; padding: 0 1; height: 100%; overflow: hidden;
             text-wrap: nowrap; text-overflow: ellipsis; }
    #meter-lines { text-wrap: nowrap; text-overflow: ellipsis; }
    #title, #timeline { text-wrap: nowrap; text-overflow: ellipsis; }
    #ratio { width: 100%; height: 3; color: $accent; }
    #timeline { height: 1; }
    .narrow #panels { grid-size: 1 4; grid-columns: 1fr; grid-rows: 8 5 1fr 4; }
    .narrow .panel { padding: 0; }
    HelpScreen { align: center middle; }
    #help { width: 76; max-width: 96%; max-height: 96%; height: auto; border: round $primary;
            padding: 0 1; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pause", "Pause", id="pause", tooltip="Hold the decoding, or let it go on"),
        Binding("left", "older", "Back", id="back", tooltip="Look at the step before", key_display="←"),
        Binding("right,full_stop", "forward", "Step", id="step", tooltip="One step on", key_display="→"),
        Binding("home", "first", "First", id="first", tooltip="Look at the first step", show=False),
        Binding("end", "last", "Now", id="last", tooltip="Follow the newest step"),
        Binding("n", "next_multi", "Next hit", id="next", tooltip="Next step with several tokens"),
        Binding(
            "plus,equals_sign",
            "speed(1)",
            "Faster",
            id="faster",
            tooltip="More steps a second",
            key_display="+",
        ),
        Binding("minus", "speed(-1)", "Slower", id="slower", tooltip="Fewer steps a second", key_display="-"),
        Binding("question_mark", "help", "Help", id="help", tooltip="What the panels say", key_display="?"),
        Binding(
            "q,ctrl+c", "leave", "Quit", id="quit", tooltip="Stop within one step and leave", key_display="q"
        ),
    ]

    def __init__(
        self, source: RunSource, theme: Theme, *, paused: bool, speed: float | None, exit_when_done: bool
    ) -> None:
        super().__init__()
        self.view = RunView()
        self.failure: BaseException | None = None
        self.redraws = 0
        self._source = source
        self._colours = theme
        self._pacer = Pacer(paused=paused, speed=speed)
        self._exit_when_done = exit_when_done
        self._cancel = threading.Event()
        self._arrived: deque[Header | StepEvent | Footer | Progress] = deque()
        self._progress: Progress | None = Progress(f"opening {source.title}")
        self._finished = threading.Event()
        self._stale = True

    def compose(self) -> ComposeResult:
        """Title, four panels, timeline, keys."""
        yield Static(id="title", markup=False)
        with Grid(id="panels"):
            yield panels.WindowPanel(self._colours)
            yield panels.PoolPanel(self._colours)
            yield panels.AcceptedPanel(self._colours)
            yield panels.MeterPanel(self._colours)
        yield Static(id="timeline", markup=False)
        yield KeyBar(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Put on the colours and start the run."""
        colours = self._colours
        self.register_theme(
            TextualTheme(
                name="lookahead",
                primary=colours.accent,
                accent=colours.free,
                foreground=colours.foreground,
                background=colours.background,
                surface=colours.panel,
                panel=colours.panel,
                dark=colours.dark,
            )
        )
        self.theme = "lookahead"
        self.set_interval(1 / REDRAWS_A_SECOND, self._tick)
        self.run_worker(self._drive, thread=True, exit_on_error=False)

    def on_resize(self, event: Resize) -> None:
        """Stack the panels below 100 columns."""
        self.screen.set_class(event.size.width < 100, "narrow")
        self._stale = True

    # The worker thread.

    def _report(self, progress: Progress) -> None:
        if self._cancel.is_set():
            raise _StoppedError("Stopped.")
        self._arrived.append(progress)

    def _drive(self) -> None:
        try:
            events = self._source.events(self._cancel, self._report)
            for event in events:
                self._arrived.append(event)
                if not isinstance(event, Footer):
                    self._pacer.wait()
        except _StoppedError:
            return
        except BaseException as error:  # whatever it is, it is raised again once the screen is closed
            self.failure = error
        finally:
            self._finished.set()

    # The screen's thread.

    def _tick(self) -> None:
        finished = self._finished.is_set()
        while self._arrived:
            event = self._arrived.popleft()
            if isinstance(event, Progress):
                self._progress = event
            else:
                self.view.take(event)
                self._progress = None
            self._stale = True
        if finished and (self.failure is not None or self._cancel.is_set() or self._exit_when_done):
            self.exit()
            return
        if self._stale:
            self._redraw()

    def _redraw(self) -> None:
        self._stale = False
        self.redraws += 1
        screen = self.screen_stack[0]
        for panel in screen.query(".panel"):
            if isinstance(panel, panels.Panel | panels.MeterPanel):
                panel.show(self.view)
        screen.query_one("#title", Static).update(self._title_line())
        timeline = screen.query_one("#timeline", Static)
        timeline.update(timeline_picture(self.view, self._colours, timeline.size.width))

    def _title_line(self) -> Text:
        style = self._colours.style
        text = Text(no_wrap=True, overflow="ellipsis")
        header = self.view.header
        if header is None or (self._progress is not None and not self.view.steps):
            return text.append(_progress_words(self._progress), style("accent"))
        text.append(visible_text(header.model).replace("␣", " "), style("accent"))
        text.append(f" · {header.dtype} · {header.device}", style("muted"))
        config = header.config
        if config.get("method") == "lookahead":
            settings = f" · W {config['window_size']} N {config['ngram_size']} G {config['guess_set_size']}"
            text.append(settings, style("foreground"))
        text.append(f" · step {self.view.shown + 1}/{len(self.view.steps)}", style("foreground"))
        text.append(f" · {self._state()}", style("free" if self.view.following else "wanted"))
        return text

    def _state(self) -> str:
        if not self.view.following:
            return "◀ THE PAST (end: now)"
        if self._progress is not None:
            return _progress_words(self._progress)
        if self.view.footer is not None:
            return f"■ {self.view.footer.finish_reason}, {self.view.footer.seconds:.1f} s"
        if self._cancel.is_set():
            return "stopping"
        if self._pacer.paused:
            return "‖ paused"
        speed = self._pacer.speed
        return "▶ playing" if speed is None else f"▶ {speed:g} steps/s"

    def action_pause(self) -> None:
        """Hold the decoding, or let it go on."""
        self._pacer.toggle()
        self._stale = True

    def action_older(self) -> None:
        """Look at the step before."""
        self.view.look_at(max(0, self.view.shown - 1))
        self._stale = True

    def action_forward(self) -> None:
        """The next step: of the past, or a new one while paused."""
        if not self.view.following:
            self.view.look_at(self.view.shown + 1)
        elif self._pacer.paused:
            self._pacer.step()
        self._stale = True

    def action_first(self) -> None:
        """Look at the first step."""
        self.view.look_at(0)
        self._stale = True

    def action_last(self) -> None:
        """Follow the newest step."""
        self.view.look_at(len(self.view.steps) - 1)
        self._stale = True

    def action_next_multi(self) -> None:
        """Look at the next step that emitted several tokens."""
        later = range(self.view.shown + 1, len(self.view.steps))
        found = next((at for at in later if len(self.view.steps[at].accepted) > 1), None)
        if found is None:
            self.bell()
        else:
            self.view.look_at(found)
            self._stale = True

    def action_speed(self, by: int) -> None:
        """More or fewer steps a second."""
        self._pacer.change_speed(by)
        self._stale = True

    def action_help(self) -> None:
        """Say what the panels mean."""
        self.push_screen(HelpScreen())

    def action_leave(self) -> None:
        """Stop within one step and leave."""
        self._cancel.set()
        self._pacer.release()
        self._stale = True


def _progress_words(progress: Progress | None) -> str:
    if progress is None:
        return ""
    words = progress.label
    if progress.total:
        words += f" {100 * progress.done / progress.total:.0f} %"
    return words


def run_visualize(
    source: RunSource,
    *,
    theme: str | None,
    paused: bool = False,
    speed: float | None = None,
    exit_when_done: bool = False,
) -> Footer | None:
    """Show a run on the whole terminal until the person leaves.

    Returns:
        How the run ended, None when it was left before its end.

    Raises:
        LookaheadError: What the source raised, after the screen is closed.
    """
    colours, complaint = load_theme_or_default(theme)
    app = VisualizeApp(source, colours, paused=paused, speed=speed, exit_when_done=exit_when_done)
    if complaint is not None:
        app.call_later(app.notify, complaint, severity="warning")
    app.run()
    if app.failure is not None:
        raise app.failure
    return app.view.footer
