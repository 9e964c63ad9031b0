"""The chat screen: a conversation with the live panels beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, Protocol

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.events import Resize
from textual.widgets import Footer as KeyBar
from textual.widgets import Input, Static

from lookahead_cli.errors import LookaheadError
from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent
from lookahead_cli.tui.app import REDRAWS_A_SECOND, textual_theme
from lookahead_cli.tui.feed import Feed
from lookahead_cli.tui.panels import AcceptedPanel, MeterPanel, Panel, PoolPanel, WindowPanel
from lookahead_cli.tui.run_view import RunView, answer_line
from lookahead_cli.tui.theme import Theme, load_theme_or_default
from lookahead_cli.tui.token_text import plain_text, text_of

Messages = Sequence[dict[str, str]]
Report = Callable[[Progress], None]


class ChatBackend(Protocol):
    """Answers conversations."""

    @property
    def title(self) -> str:
        """What answers."""
        ...

    def answer(
        self, messages: Messages, cancel: threading.Event, report: Report
    ) -> Iterator[Header | StepEvent | Footer]:
        """The run that answers the last message; called in a worker thread.

        Raises:
            LookaheadError: The model cannot be used, or the conversation does not fit it.
        """
        ...


class _Turn:
    """One answer as a source of events."""

    recorded = False

    def __init__(self, backend: ChatBackend, messages: Messages) -> None:
        self.title = backend.title
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
    """

    TITLE = "lookahead chat"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #title { height: 1; }
    #body { height: 1fr; }
    #talk { width: 3fr; padding: 0 1; }
    #talk Static { margin-bottom: 1; height: auto; }
    #panels { width: 2fr; }
    #panels Panel { height: 1fr; }
    .-no-panels #panels { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape", "stop", "Stop", id="chat.stop", tooltip="End the answer within one step; it is kept"
        ),
        Binding("f2", "panels", "Panels", id="chat.panels", tooltip="Show or hide the decoding panels"),
        Binding("ctrl+q", "leave", "Quit", id="chat.quit", tooltip="Leave", priority=True),
        Binding("ctrl+c", "leave", "Quit", id="chat.close", show=False, priority=True, tooltip="Leave"),
    ]

    def __init__(self, backend: ChatBackend, theme: Theme, *, system: str | None = None) -> None:
        super().__init__()
        self.messages: list[dict[str, str]] = [{"role": "system", "content": system}] if system else []
        self.view = RunView()
        self.leaving = False
        self._backend = backend
        self._colours = theme
        self._feed: Feed | None = None
        self._answer: Static | None = None
        self._panels_wanted: bool | None = None
        self._status = backend.title

    def compose(self) -> ComposeResult:
        """Title, conversation and panels, input line, keys."""
        yield Static(id="title", markup=False)
        with Horizontal(id="body"):
            yield VerticalScroll(id="talk")
            with Vertical(id="panels"):
                yield WindowPanel(self._colours)
                yield PoolPanel(self._colours)
                yield AcceptedPanel(self._colours)
                yield MeterPanel(self._colours)
        yield Input(placeholder="Ask something, and press enter")
        yield KeyBar(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Put on the colours; the input line has the keys."""
        self.register_theme(textual_theme(self._colours))
        self.theme = "lookahead"
        self.set_interval(1 / REDRAWS_A_SECOND, self._tick)
        self.query_one(Input).focus()
        self._show_title()

    def on_resize(self, event: Resize) -> None:
        """Below 100 columns the conversation has the room, unless the panels were asked for."""
        self._place_panels(event.size.width)

    def _place_panels(self, width: int) -> None:
        shown = width >= 100 if self._panels_wanted is None else self._panels_wanted
        self.query_one("#body").set_class(not shown, "-no-panels")

    @on(Input.Submitted)
    def ask(self, event: Input.Submitted) -> None:
        """Send the line, once the answer before has ended."""
        question = event.value.strip()
        if not question or self._feed is not None:
            return
        event.input.clear()
        self.messages.append({"role": "user", "content": question})
        self._say(Text(question), "you")
        self._answer = self._say(Text("…"), "model")
        self.view = RunView()
        self._feed = Feed(_Turn(self._backend, list(self.messages)), None, lambda: None)
        self.run_worker(self._feed.drive, thread=True, exit_on_error=False)

    def _say(self, text: Text, who: str | None = None) -> Static:
        style = self._colours.style("accent" if who == "you" else "foreground")
        said = text if who is None else Text.assemble((f"{who}: ", style), text)
        static = Static(said, markup=False)
        talk = self.query_one("#talk", VerticalScroll)
        talk.mount(static)
        talk.scroll_end(animate=False)
        return static

    def _tick(self) -> None:
        feed = self._feed
        if feed is None:
            if self.leaving:
                self.exit()
            return
        finished = feed.finished
        news = feed.take()
        for event in news:
            if isinstance(event, Progress):
                self._status = event.label
            else:
                self.view.take(event)
                self._status = ""
        if news:
            self._show_title()
            self._stream()
            for panel in self.query(Panel):
                panel.show(self.view)
        if finished:
            self._end(feed)

    def _stream(self) -> None:
        """The answer so far; the last step's footer brings the tokenizer's own text."""
        if self._answer is not None and (self.view.steps or self.view.footer):
            talk = self.query_one("#talk", VerticalScroll)
            near_end = talk.max_scroll_y - talk.scroll_y < 3
            self._answer.update(Text.assemble(("model: ", self._colours.style("foreground")), self._text()))
            if near_end:
                talk.scroll_end(animate=False)

    def _text(self) -> str:
        footer = self.view.footer
        if footer is not None:
            return plain_text(footer.text)
        ids = (token for step in self.view.steps for token in step.token_ids)
        return plain_text(text_of(self.view.tokens[token] for token in ids))

    def _end(self, feed: Feed) -> None:
        self._feed = None
        footer = self.view.footer
        if isinstance(feed.failure, LookaheadError):
            self._say(Text(str(feed.failure), self._colours.style("rejected")), "lookahead")
        elif feed.failure is not None:
            raise feed.failure
        if footer is None:
            self._put_back()
            return
        if footer.finish_reason == "cancelled" and not footer.output_ids:
            self._put_back()
            return
        self.messages.append({"role": "assistant", "content": footer.text})
        self._say(Text(answer_line(footer), self._colours.style("muted")))

    def _put_back(self) -> None:
        """Nothing came: the question returns to the input line."""
        question = self.messages.pop()["content"]
        self.query_one(Input).value = question
        if self._answer is not None:
            self._answer.update(Text("model: (stopped)"))

    def _show_title(self) -> None:
        header = self.view.header
        text = Text(no_wrap=True, overflow="ellipsis")
        if header is None:
            text.append(self._status, self._colours.style("accent"))
        else:
            config = header.config
            text.append(header.model, self._colours.style("accent"))
            text.append(f" · {header.dtype} · {header.device}", self._colours.style("muted"))
            text.append(f" · W {config['window_size']} N {config['ngram_size']} G {config['guess_set_size']}")
            text.append(f" · S {self.view.total.compression_ratio:.2f}", self._colours.style("free"))
        self.query_one("#title", Static).update(text)

    def action_stop(self) -> None:
        """End the answer within one step."""
        if self._feed is not None:
            self._feed.cancel()

    def action_panels(self) -> None:
        """Show or hide the panels."""
        self._panels_wanted = self.query_one("#body").has_class("-no-panels")
        self._place_panels(self.size.width)

    def action_leave(self) -> None:
        """Stop within one step and leave."""
        self.action_stop()
        self.leaving = True


def run_chat(backend: ChatBackend, *, theme: str | None, system: str | None) -> None:
    """Hold a conversation on the whole terminal until the person leaves."""
    colours, _ = load_theme_or_default(theme)
    ChatApp(backend, colours, system=system).run()
