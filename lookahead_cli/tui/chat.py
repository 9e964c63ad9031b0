"""The chat screen: a conversation with the live panels beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar, Protocol

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Footer as KeyBar
from textual.widgets import Static

from lookahead_cli.errors import LookaheadError
from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent
from lookahead_cli.trace.settings import settings_words
from lookahead_cli.tui.app import REDRAWS_A_SECOND
from lookahead_cli.tui.commands import commands_of
from lookahead_cli.tui.feed import Feed
from lookahead_cli.tui.loading import amount
from lookahead_cli.tui.panels import AcceptedPanel, MeterPanel, Panel, PoolPanel, WindowPanel
from lookahead_cli.tui.prompt_input import PromptInput
from lookahead_cli.tui.run_screen import LOW, NARROW
from lookahead_cli.tui.run_view import RunView, answer_line
from lookahead_cli.tui.source import EventSource
from lookahead_cli.tui.terminal import end_with_terminal
from lookahead_cli.tui.textual_theme import textual_theme
from lookahead_cli.tui.theme import Theme, load_theme_or_default
from lookahead_cli.tui.token_text import plain_text, text_of

_WELCOME = (
    "Ask something below: enter sends, shift+enter or ctrl+j begins a new line, esc stops an answer, "
    "F2 shows or hides the decoding panels, ctrl+q leaves."
)

Messages = Sequence[dict[str, str]]
Report = Callable[[Progress], None]


class ChatBackend(Protocol):
    """Answers conversations."""

    @property
    def title(self) -> str:
        """What answers."""
        ...

    def load(self, report: Report) -> object:
        """Load the model, if that was not done; called in a worker thread.

        Raises:
            LookaheadError: The model cannot be used.
        """
        ...

    def answer(
        self, messages: Messages, cancel: threading.Event, report: Report
    ) -> Iterator[Header | StepEvent | Footer]:
        """The run that answers the last message; called in a worker thread.

        Raises:
            LookaheadError: The model cannot be used, or the conversation does not fit it.
        """
        ...


class _Loading:
    """Loading the model as a source of progress alone."""

    def __init__(self, backend: ChatBackend) -> None:
        self._backend = backend

    def events(self, cancel: threading.Event, report: Report) -> Iterator[Header | StepEvent | Footer]:
        self._backend.load(report)
        return iter(())


class _Turn:
    """One answer as a source of events."""

    def __init__(self, backend: ChatBackend, messages: Messages) -> None:
        self._backend = backend
        self._messages = messages

    def events(self, cancel: threading.Event, report: Report) -> Iterator[Header | StepEvent | Footer]:
        return self._backend.answer(self._messages, cancel, report)


class ChatApp(App[None]):
    """A conversation.

    Args:
        backend: Who answers.
        theme: The colours.
        system: The system prompt, None for none.
        notice: A sentence to show at the start.
    """

    TITLE = "lookahead chat"
    CSS = """
    #title { height: 1; }
    #body { height: 1fr; }
    #talk { width: 3fr; padding: 0 1; }
    #talk Static { margin-bottom: 1; height: auto; }
    #panels { width: 2fr; }
    #panels #accepted { height: 1fr; }
    #panels #pool { height: 2fr; }
    .-no-panels #panels { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape", "stop", "Stop", id="chat.stop", tooltip="End the answer within one step; it is kept"
        ),
        Binding("f2", "panels", "Panels", id="chat.panels", tooltip="Show or hide the decoding panels"),
        Binding("pageup", "scroll(-1)", "Scroll up", id="chat.up", show=False, priority=True),
        Binding("pagedown", "scroll(1)", "Scroll down", id="chat.down", show=False, priority=True),
        Binding("ctrl+q", "leave", "Quit", id="chat.quit", tooltip="Leave", priority=True),
        Binding(
            "ctrl+c",
            "interrupt",
            "Empty the line",
            id="chat.close",
            show=False,
            priority=True,
            tooltip="Empty the input line, or leave",
        ),
    ]

    def __init__(
        self, backend: ChatBackend, theme: Theme, *, system: str | None = None, notice: str | None = None
    ) -> None:
        super().__init__()
        self.messages: list[dict[str, str]] = [{"role": "system", "content": system}] if system else []
        self.view = self._view_before = RunView()
        self.leaving = False
        self.interrupted = False
        self.failure: BaseException | None = None
        self._backend = backend
        self._notice = notice
        self._colours = theme
        self._feed: Feed | None = None
        self._loaded = False
        self._early_question: str | None = None
        self._question: Static | None = None
        self._answer: Static | None = None
        self._panels_wanted: bool | None = None
        self._status = backend.title

    def compose(self) -> ComposeResult:
        """Title, conversation and panels, input line, keys."""
        yield Static(id="title", markup=False)
        with Horizontal(id="body"):
            yield VerticalScroll(id="talk", can_focus=False)
            with Vertical(id="panels"):
                yield WindowPanel(self._colours, id="window")
                yield PoolPanel(self._colours, id="pool")
                yield AcceptedPanel(self._colours, id="accepted")
                yield MeterPanel(self._colours, id="meter")
        yield PromptInput(self._colours, placeholder="Ask something, and press enter")
        yield KeyBar(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Put on the colours; the input line has the keys."""
        self.register_theme(textual_theme(self._colours))
        self.theme = "lookahead"
        self.set_interval(1 / REDRAWS_A_SECOND, self._tick)
        self.query_one(PromptInput).focus()
        if self._notice is not None:
            self.notify(self._notice, severity="warning", timeout=10, markup=False)
        self._say(Text(_WELCOME, self._colours.style("muted")))
        self._show_title()
        self._drive(_Loading(self._backend))

    def _drive(self, source: EventSource) -> None:
        self._feed = Feed(source, None, lambda: None)
        self.run_worker(self._feed.drive, thread=True, exit_on_error=False)

    def on_resize(self, event: Resize) -> None:
        """Find the panels their places for the new size."""
        self._place_panels()

    def _place_panels(self) -> None:
        """Below 100 columns the conversation has the room, unless the panels were asked for."""
        width, height = self.size
        shown = width >= NARROW if self._panels_wanted is None else self._panels_wanted
        self.query_one("#body").set_class(not shown, "-no-panels")
        low = height < LOW
        frame = 1 if low else 2
        # The window needs its rows and the meter its lines; pool and output share the rest.
        heights = {"window": (self.view.setting("ngram_size") or 5) + 1, "meter": 4 if low else 6}
        for panel in self.query(Panel):
            panel.compact = low
            if panel.id in heights:
                panel.styles.height = heights[panel.id] + frame
        self.query_one("#accepted").display = not low

    @on(PromptInput.Submitted)
    def ask(self, event: PromptInput.Submitted) -> None:
        """Send the text, once the model is there and the answer before has ended."""
        line = self.query_one(PromptInput)
        if self._feed is None:
            line.take(event.text)
            self._question = self._say(Text(plain_text(event.text)), "you")
            self._ask(event.text)
        elif not self._loaded and self._early_question is None:
            line.take(event.text)
            self._early_question = event.text
            self._question = self._say(Text(plain_text(event.text)), "you")
        else:
            self.notify("The answer before is still coming; Esc stops it.", markup=False)

    def _ask(self, question: str) -> None:
        self.messages.append({"role": "user", "content": question})
        self._answer = self._say(Text("…"), "model")
        self._view_before, self.view = self.view, RunView()
        self._drive(_Turn(self._backend, list(self.messages)))

    def _say(self, text: Text, who: str | None = None) -> Static:
        style = self._colours.style("accent" if who == "you" else "foreground")
        said = text if who is None else Text.assemble((f"{who}: ", style), text)
        static = Static(said, markup=False)
        talk = self.query_one("#talk", VerticalScroll)
        talk.mount(static)
        talk.anchor()
        return static

    def _tick(self) -> None:
        feed = self._feed
        if feed is None:
            if self.leaving:
                self.exit()
            return
        news = feed.take()
        finished = feed.finished
        for event in news:
            if isinstance(event, Progress):
                self._status = _doing(event)
            else:
                self.view.take(event)
                self._status = ""
            if isinstance(event, Header):
                self._place_panels()
        if news:
            self._stream()
            self._show_run()
        if finished:
            self._end(feed)

    def _show_run(self) -> None:
        self._show_title()
        for panel in self.query(Panel):
            panel.show(self.view)

    def _stream(self) -> None:
        """The answer so far; the last step's footer brings the tokenizer's own text."""
        if self._answer is None:
            return
        if self.view.steps or self.view.footer:
            said = Text(self._text())
        else:
            said = Text(f"{self._status}…", self._colours.style("muted"))
        self._answer.update(Text.assemble(("model: ", self._colours.style("foreground")), said))

    def _text(self) -> str:
        footer = self.view.footer
        if footer is not None:
            return plain_text(footer.text)
        steps = self.view.steps
        tokens = (self.view.tokens[token] for step in steps for token in step.token_ids)
        return plain_text(text_of(tokens, steps[-1].overrun))

    def _end(self, feed: Feed) -> None:
        self._feed = None
        if not self._loaded:
            self._end_loading(feed)
            return
        footer = self.view.footer
        if isinstance(feed.failure, LookaheadError):
            self._say(Text(str(feed.failure), self._colours.style("rejected")), "lookahead")
        elif feed.failure is not None:
            self.failure = feed.failure
            self.exit()
            return
        if footer is None or (footer.finish_reason == "cancelled" and not footer.output_ids):
            self._put_back()
            return
        self.messages.append({"role": "assistant", "content": footer.text})
        self._say(Text(answer_line(footer), self._colours.style("muted")))

    def _end_loading(self, feed: Feed) -> None:
        """Without its model a chat has nothing to do; with it, what was asked meanwhile is answered."""
        if feed.failure is not None or feed.cancelled:
            self.failure = feed.failure
            self.exit()
            return
        self._loaded = True
        self._status = ""
        self._show_title()
        if self._early_question is not None:
            self._ask(self._early_question)
            self._early_question = None

    def _put_back(self) -> None:
        """Nothing came: the question leaves the conversation and returns to the input line."""
        self._take_back(self.messages.pop()["content"])
        self.view, self._status = self._view_before, ""
        self._show_run()

    def _take_back(self, question: str) -> None:
        line = self.query_one(PromptInput)
        if not line.text:
            line.put(question)
        for said in (self._question, self._answer):
            if said is not None:
                said.remove()
        self._question = self._answer = None

    def _show_title(self) -> None:
        header = self.view.header
        text = Text(no_wrap=True, overflow="ellipsis")
        if header is None:
            text.append(self._status or self._backend.title, self._colours.style("accent"))
        else:
            text.append(header.model, self._colours.style("accent"))
            text.append(f" · {header.dtype} · {header.device}", self._colours.style("muted"))
            text.append(f" · {settings_words(header.config).removeprefix('lookahead ')}")
            text.append(f" · S {self.view.total.compression_ratio:.2f}", self._colours.style("free"))
        self.query_one("#title", Static).update(text)

    def action_stop(self) -> None:
        """End the answer within one step; what was asked while the model is loaded is taken back."""
        if self._feed is not None and self._loaded:
            self._feed.cancel()
        elif self._early_question is not None:
            self._take_back(self._early_question)
            self._early_question = None

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action, for the command palette."""
        yield from commands_of(screen)

    def action_panels(self) -> None:
        """Show or hide the panels."""
        self._panels_wanted = self.query_one("#body").has_class("-no-panels")
        self._place_panels()

    def action_scroll(self, by: int) -> None:
        """Look at what was said earlier or later."""
        talk = self.query_one("#talk", VerticalScroll)
        talk.scroll_relative(y=by * max(1, talk.size.height - 2), animate=False)

    def action_interrupt(self) -> None:
        """Empty the input line, as a shell does; where it is empty, leave."""
        line = self.query_one(PromptInput)
        if line.text:
            line.put("")
            return
        self.interrupted = True
        self.action_leave()

    def action_leave(self) -> None:
        """Stop within one step and leave; asked twice, leave at once."""
        if self._feed is None or self.leaving:
            self.exit()
            return
        self._feed.cancel()
        self.leaving = True


def _doing(progress: Progress) -> str:
    """Work before the first step, and how far it is."""
    if not progress.total:
        return progress.label
    return f"{progress.label}, {amount(progress.done, progress.total, progress.unit)}"


def run_chat(backend: ChatBackend, *, theme: str | None, system: str | None) -> bool:
    """Hold a conversation on the whole terminal until the person leaves.

    Returns:
        True where Ctrl+C ended it.

    Raises:
        BaseException: What failed unexpectedly while answering, after the screen is closed.
    """
    colours, complaint = load_theme_or_default(theme)
    end_with_terminal()
    app = ChatApp(backend, colours, system=system, notice=complaint)
    app.run()
    if app.failure is not None:
        raise app.failure
    return app.interrupted
