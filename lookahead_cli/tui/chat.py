"""The chat screen: a conversation with the live panels beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.events import Resize
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer as KeyBar
from textual.widgets import Static

from lookahead_cli.errors import LookaheadError
from lookahead_cli.sessions.words import answer_words, total_words
from lookahead_cli.trace.events import Header, Progress
from lookahead_cli.trace.settings import settings_words
from lookahead_cli.trace.words import counted
from lookahead_cli.tui.answer_view import AnswerView
from lookahead_cli.tui.app import REDRAWS_A_SECOND
from lookahead_cli.tui.chat_commands import code_blocks, completions, is_command, run_command
from lookahead_cli.tui.commands import commands_of
from lookahead_cli.tui.feed import Feed
from lookahead_cli.tui.loading import amount
from lookahead_cli.tui.panels import AcceptedPanel, MeterPanel, Panel, PoolPanel, WindowPanel
from lookahead_cli.tui.prompt_input import PromptInput
from lookahead_cli.tui.run_screen import LOW, NARROW
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.source import EventSource
from lookahead_cli.tui.talk import Answerer, Events, Report, Said, Talk
from lookahead_cli.tui.terminal import end_with_terminal
from lookahead_cli.tui.textual_theme import textual_theme
from lookahead_cli.tui.theme import Theme, load_theme_or_default
from lookahead_cli.tui.token_text import plain_text, text_of

_WELCOME = (
    "Ask something below: enter sends, shift+enter or ctrl+j begins a new line, esc stops an answer, "
    "F2 shows or hides the decoding panels, ctrl+q leaves."
)

_SHOWN_AT_FIRST = 20


class _Loading:
    """Loading the model as a source of progress alone."""

    def __init__(self, answerer: Answerer) -> None:
        self._answerer = answerer

    def events(self, cancel: threading.Event, report: Report) -> Events:
        self._answerer.load(report)
        return iter(())


class _Turn:
    """One answer as a source of events."""

    def __init__(self, run: Callable[[threading.Event, Report], Events]) -> None:
        self.events = run


class ChatApp(App[None]):
    """A conversation.

    Args:
        talk: The conversation.
        theme: The colours.
        notice: A sentence to show at the start.
        attached: Text that goes before the first question.
    """

    TITLE = "lookahead chat"
    CSS = """
    #title { height: 1; }
    #body { height: 1fr; }
    #talk { width: 3fr; padding: 0 1; }
    #talk > Static { margin-bottom: 1; height: auto; }
    #panels { width: 2fr; }
    #panels #accepted { height: 1fr; }
    #panels #pool { height: 2fr; }
    .-no-panels #panels { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape", "stop", "Stop", id="chat.stop", tooltip="End the answer within one step; it is kept"
        ),
        Binding(
            "ctrl+r", "retry", "Again", id="chat.retry", show=False, tooltip="Answer the last question again"
        ),
        Binding("ctrl+g", "go_on", "Go on", id="chat.go_on", show=False, tooltip="Go on with a cut answer"),
        Binding("ctrl+t", "undo", "Undo", id="chat.undo", show=False, tooltip="Take the last turn back"),
        Binding("ctrl+o", "copy", "Copy", id="chat.copy", show=False, tooltip="Copy the last answer"),
        Binding("f3", "raw", "Tokens", id="chat.raw", tooltip="The answers' tokens, a colour a step"),
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

    def __init__(self, talk: Talk, theme: Theme, *, notice: str | None = None, attached: str = "") -> None:
        super().__init__()
        self.view = self._view_before = RunView()
        self.leaving = False
        self.interrupted = False
        self.failure: BaseException | None = None
        self._talk = talk
        self._attached = attached
        self._notice = notice
        self._colours = theme
        self._feed: Feed | None = None
        self._loaded = False
        self._early_question: str | None = None
        self._asked: str | None = None
        self._begun = ""
        self._raw = False
        self._question: Static | None = None
        self._answer: AnswerView | None = None
        self._earlier = 0
        self._panels_wanted: bool | None = None
        self._status = talk.answerer.title

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
        yield PromptInput(
            self._colours, placeholder="Ask something, and press enter", completions=completions
        )
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
        self._show_earlier()
        if self._talk.unanswered is not None:
            self.query_one(PromptInput).put(self._talk.unanswered)
        self._drive(_Loading(self._talk.answerer))

    def _show_earlier(self) -> None:
        """The end of a conversation that is gone on with; page up at its top shows more of it."""
        talk = self.query_one("#talk", VerticalScroll)
        talk.mount_all(self._part_before(len(self._talk.messages)))
        talk.anchor()

    def _show_more(self) -> None:
        """What was said before the first message that is shown."""
        talk = self.query_one("#talk", VerticalScroll)
        first = talk.query_one("#earlier")
        talk.mount_all(self._part_before(self._earlier), before=first)
        first.remove()

    def _part_before(self, end: int) -> list[Widget]:
        """Widgets of the messages before one, and of how many there are before those."""
        begin = max(0, end - _SHOWN_AT_FIRST)
        widgets = [widget for said in self._talk.messages[begin:end] for widget in self._widgets_of(said)]
        self._earlier = begin
        if begin:
            words = f"… {counted(begin, 'message')} before; page up shows them."
            widgets.insert(0, self._line(Text(words, self._colours.style("muted")), id="earlier"))
        return widgets

    def _widgets_of(self, said: Said) -> list[Widget]:
        if said.role == "user":
            return [self._line(self._by("you", Text(plain_text(said.content))))]
        widgets: list[Widget] = [self._answer_view(plain_text(said.content))]
        if said.figures is not None:
            words = answer_words(said.figures, said.finish_reason)
            widgets.append(self._line(Text(words, self._colours.style("muted"))))
        return widgets

    def _line(self, text: Text, id: str | None = None) -> Static:
        return Static(text, markup=False, id=id)

    def _by(self, who: str, text: Text) -> Text:
        return Text.assemble((f"{who}: ", self._colours.style("accent")), text)

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
        if event.text.startswith("/") and is_command(event.text):
            line.take(event.text)
            self._command(event.text)
        elif self._feed is None:
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
        self._asked, self._begun = question, ""
        whole = self._attached + question
        self._follow(lambda cancel, report: self._talk.ask(whole, cancel, report))

    def _command(self, text: str) -> None:
        """Do what a line that begins with a slash says; a mistake is said below the conversation."""
        try:
            run_command(self, text)
        except LookaheadError as error:
            self.complain(str(error))

    def complain(self, message: str) -> None:
        """Say what went wrong."""
        self._say(Text(message, self._colours.style("rejected")), "lookahead")

    def tell(self, message: str) -> None:
        """Say something that is no part of the conversation."""
        self._say(Text(message, self._colours.style("muted")))

    @property
    def talk(self) -> Talk:
        """The conversation."""
        return self._talk

    def _idle(self) -> bool:
        if self._feed is not None:
            coming = (
                "An answer is still coming; Esc stops it." if self._loaded else "The model is being loaded."
            )
            self.notify(coming, markup=False)
        return self._feed is None

    def action_retry(self) -> None:
        """Answer the last question again."""
        if self._idle():
            if not self._talk.messages:
                self.complain("Nothing was answered yet. Ask something first.")
                return
            self._asked, self._begun = None, ""
            self.tell("The last question is answered again; the answer before is kept in the session.")
            self._follow(self._talk.retry)

    def action_go_on(self) -> None:
        """Go on with an answer that was stopped, or cut by its length."""
        if self._idle():
            if not self._talk.can_go_on:
                self.complain("The last answer ended by itself. Ask for more in words.")
                return
            self._asked, self._begun = None, plain_text(self._talk.messages[-1].content)
            # It is shown once, and grows.
            self.query(AnswerView).last().remove()
            self._follow(self._talk.go_on)

    def action_undo(self) -> None:
        """Take the last turn back; its question returns to the input line."""
        if not self._idle():
            return
        try:
            question = self._talk.undo()
        except LookaheadError as error:
            self.complain(str(error))
            return
        self.query_one("#talk", VerticalScroll).remove_children()
        self._show_earlier()
        self.query_one(PromptInput).put(question)

    def action_raw(self) -> None:
        """Show the answers' tokens, or the answers as they read."""
        self._raw = not self._raw
        self.query(AnswerView).set_class(self._raw, "-raw")
        self._stream()

    def action_copy(self, what: str = "answer") -> None:
        """Copy the last answer, or its blocks of code, to the terminal's clipboard."""
        answers = [said.content for said in self._talk.messages if said.role == "assistant"]
        if not answers:
            self.complain("There is nothing to copy yet.")
            return
        blocks = code_blocks(answers[-1])
        if what == "code" and not blocks:
            self.complain("The last answer has no block of code.")
            return
        text = "\n".join(blocks) if what == "code" else answers[-1]
        self.copy_to_clipboard(text)
        named = counted(len(blocks), "block") + " of code" if what == "code" else "the last answer"
        self.notify(f"Copied {named}: {counted(len(text), 'character')}.", markup=False)

    def stats(self) -> str:
        """All answers so far in a sentence."""
        figures = [said.figures for said in self._talk.messages if said.figures is not None]
        return total_words(figures) or "Nothing was answered yet."

    def _follow(self, run: Callable[[threading.Event, Report], Events]) -> None:
        """Show an answer while it comes."""
        self._answer = self._answer_view(self._begun)
        self._mount(self._answer)
        self._view_before, self.view = self.view, RunView()
        self._drive(_Turn(run))

    def _answer_view(self, text: str = "") -> AnswerView:
        view = AnswerView(self._speaker(), text)
        view.set_class(self._raw, "-raw")
        return view

    def _speaker(self) -> Text:
        return Text("model:", self._colours.style("foreground"))

    def _say(self, text: Text, who: str | None = None) -> Static:
        static = self._line(text if who is None else self._by(who, text))
        self._mount(static)
        return static

    def _mount(self, widget: Widget) -> None:
        talk = self.query_one("#talk", VerticalScroll)
        talk.mount(widget)
        talk.anchor()

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
        answer = self._answer
        if answer is None:
            return
        if not answer.is_mounted:
            self.call_after_refresh(self._stream)
            return
        if self.view.steps or self.view.footer:
            # Every token in its colour is much to draw: while it comes only where it is looked at.
            tokens = self._tokens() if self._raw or self.view.footer else None
            answer.show(self._begun + self._text(), tokens)
        elif self._feed is not None:
            answer.waits(Text(f"{self._status}…", self._colours.style("muted")))

    def _text(self) -> str:
        footer = self.view.footer
        if footer is not None:
            return plain_text(footer.text)
        steps = self.view.steps
        tokens = (self.view.tokens[token] for step in steps for token in step.token_ids)
        # A character whose bytes are still coming reads as � and is held back.
        return plain_text(text_of(tokens, steps[-1].overrun)).rstrip("\ufffd")

    def _tokens(self) -> Text:
        """The output's tokens, those of one step in one colour."""
        colours = [self._colours.style(role) for role in ("accepted", "foreground")]
        text = Text(self._begun)
        for index, step in enumerate(self.view.steps):
            said = text_of((self.view.tokens[token] for token in step.token_ids), step.overrun)
            text.append(plain_text(said), colours[index % 2])
        return text

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
        if self._asked is not None:
            self._attached = ""
        self._asked = None
        answer = self._talk.messages[-1]
        assert answer.figures is not None
        self._say(Text(answer_words(answer.figures, answer.finish_reason), self._colours.style("muted")))

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
        """Nothing came: the conversation has taken the question back, and it returns to the input line."""
        if self._asked is not None:
            self._take_back(self._asked)
        elif self._answer is not None:
            self._answer.remove()
            if self._begun:
                self._mount(self._answer_view(self._begun))
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
        self._asked = None

    def _show_title(self) -> None:
        header = self.view.header
        text = Text(no_wrap=True, overflow="ellipsis")
        if header is None:
            text.append(self._status or self._talk.answerer.title, self._colours.style("accent"))
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
        if by < 0 and talk.scroll_y == 0 and self._earlier:
            self._show_more()
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


def run_chat(talk: Talk, *, theme: str | None, attached: str = "") -> bool:
    """Hold a conversation on the whole terminal until the person leaves.

    Args:
        talk: The conversation.
        theme: A theme's name or file, None for the default.
        attached: Text that goes before the first question.

    Returns:
        True where Ctrl+C ended it.

    Raises:
        BaseException: What failed unexpectedly while answering, after the screen is closed.
    """
    colours, complaint = load_theme_or_default(theme)
    end_with_terminal()
    app = ChatApp(talk, colours, notice=complaint, attached=attached)
    app.run()
    if app.failure is not None:
        raise app.failure
    return app.interrupted
