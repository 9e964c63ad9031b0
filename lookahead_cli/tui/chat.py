"""The chat screen: a conversation with the live panels beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult, SuspendNotSupported, SystemCommand
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.events import Resize
from textual.screen import ModalScreen, Screen
from textual.widgets import Footer as KeyBar
from textual.widgets import OptionList, Static

from lookahead_cli.errors import LookaheadError
from lookahead_cli.trace.events import Header, Progress
from lookahead_cli.tui.answer_text import text_so_far, tokens_so_far
from lookahead_cli.tui.answer_view import AnswerView
from lookahead_cli.tui.app import REDRAWS_A_SECOND
from lookahead_cli.tui.chat_column import ConversationColumn
from lookahead_cli.tui.chat_commands import COMMANDS
from lookahead_cli.tui.chat_keys import CHAT_KEYS, IN_THE_TABLE
from lookahead_cli.tui.chat_panels import ALL, PanelsColumn
from lookahead_cli.tui.chat_title import doing, title_line
from lookahead_cli.tui.commands import commands_of
from lookahead_cli.tui.editor import edit_text, find_editor
from lookahead_cli.tui.feed import Feed
from lookahead_cli.tui.kept import Kept
from lookahead_cli.tui.prompt_input import PromptInput
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.slash import is_command, offers, palette, run_command
from lookahead_cli.tui.source import EventSource
from lookahead_cli.tui.suggestions import Suggestions
from lookahead_cli.tui.talk import Events, Report, Talk
from lookahead_cli.tui.terminal import end_with_terminal
from lookahead_cli.tui.textual_theme import textual_theme
from lookahead_cli.tui.theme import Theme, load_theme_or_default
from lookahead_cli.tui.token_text import plain_text

_WELCOME = (
    "Ask something below: enter sends, shift+enter or ctrl+j begins a new line, esc stops an answer, / lists "
    "the commands, F2 shows or hides the decoding panels, ctrl+q leaves."
)


class _Loading:
    """Loading a model as a source of progress alone.

    Args:
        load: Does it.
        spec: What another model is called, None for the first one.
    """

    def __init__(self, load: Callable[[Report], object], spec: str | None = None) -> None:
        self.spec = spec
        self._load = load

    def events(self, cancel: threading.Event, report: Report) -> Events:
        self._load(report)
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
        kept: What is remembered from run to run.
    """

    TITLE = "lookahead chat"
    CSS = """
    #title { height: 1; }
    #body { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = CHAT_KEYS

    def __init__(
        self,
        talk: Talk,
        theme: Theme,
        *,
        notice: str | None = None,
        attached: str = "",
        kept: Kept | None = None,
    ) -> None:
        super().__init__()
        self.colours = theme
        self.view = self._view_before = RunView()
        self.leaving = False
        self.interrupted = False
        self.failure: BaseException | None = None
        self._talk = talk
        self._attached = attached
        self._notice = notice
        self._kept = kept or Kept(None)
        self._feed: Feed | None = None
        self._loading: _Loading | None = None
        self._early_question: str | None = None
        self._asked: str | None = None
        self._begun = ""
        self._question: Static | None = None
        self._answer: AnswerView | None = None
        self._status = talk.answerer.title

    def compose(self) -> ComposeResult:
        """Title, conversation and panels, input line, keys."""
        yield Static(id="title", markup=False)
        with Horizontal(id="body"):
            yield ConversationColumn(self.colours)
            yield PanelsColumn(self.colours, self._kept.panels())
        suggestions = Suggestions(self.colours)
        yield suggestions
        yield PromptInput(
            self.colours,
            suggestions,
            partial(offers, COMMANDS, self),
            placeholder="Ask something, or / for the commands",
            sent=self._kept.questions(),
        )
        yield KeyBar(show_command_palette=False, compact=True)

    @property
    def talk(self) -> Talk:
        """The conversation."""
        return self._talk

    @property
    def column(self) -> ConversationColumn:
        """Where the conversation is shown."""
        return self.query_one(ConversationColumn)

    @property
    def panels(self) -> PanelsColumn:
        """The panels beside it."""
        return self.query_one(PanelsColumn)

    @property
    def line(self) -> PromptInput:
        """Where questions are typed."""
        return self.query_one(PromptInput)

    def on_mount(self) -> None:
        """Put on the colours; the input line has the keys."""
        self.register_theme(textual_theme(self.colours))
        self.theme = "lookahead"
        self.set_interval(1 / REDRAWS_A_SECOND, self._tick)
        self.line.focus()
        if self._notice is not None:
            self.notify(self._notice, severity="warning", timeout=10, markup=False)
        self.column.tell(_WELCOME)
        if self._talk.system is not None:
            self.tell(f"System prompt: {self._talk.system}")
        self.show_title()
        self.column.show_messages(self._talk.messages)
        if self._talk.unanswered is not None:
            self.line.put(self._talk.unanswered)
        self._load(_Loading(self._talk.answerer.load))

    @property
    def _loaded(self) -> bool:
        return self._loading is None

    def _load(self, loading: _Loading) -> None:
        self._loading = loading
        self._drive(loading)

    def _drive(self, source: EventSource) -> None:
        self._feed = Feed(source, None, lambda: None)
        self.run_worker(self._feed.drive, thread=True, exit_on_error=False)

    def on_resize(self, event: Resize) -> None:
        """Find the panels their places for the new size."""
        self._place_panels()

    def _place_panels(self) -> None:
        self.panels.place(*self.size, self.view)

    @on(PromptInput.Submitted)
    def ask(self, event: PromptInput.Submitted) -> None:
        """Send the text, once the model is there and the answer before has ended."""
        if event.text.startswith("/") and is_command(event.text):
            self._take(event.text)
            self.command(event.text)
        elif self._feed is None:
            self._take(event.text)
            self._question = self.column.question(event.text)
            self._ask(event.text)
        elif not self._loaded and self._early_question is None:
            self._take(event.text)
            self._early_question = event.text
            self._question = self.column.question(event.text)
        else:
            self.notify("The answer before is still coming; Esc stops it.", markup=False)

    def _ask(self, question: str) -> None:
        self._asked, self._begun = question, ""
        whole = self._attached + question
        self._follow(lambda cancel, report: self._talk.ask(whole, cancel, report))

    def _take(self, text: str) -> None:
        self.line.take(text)
        self._kept.add_question(text)

    def command(self, text: str) -> None:
        """Do what a line that begins with a slash says; a mistake is said below the conversation."""
        try:
            run_command(COMMANDS, self, text)
        except LookaheadError as error:
            self.complain(str(error))

    def complain(self, message: str) -> None:
        """Say what went wrong."""
        self.column.complain(message)

    def tell(self, message: str) -> None:
        """Say something that is no part of the conversation."""
        self.column.tell(message)

    def idle(self) -> bool:
        """True where nothing is answered or loaded; it is said if something is."""
        if self._feed is not None:
            coming = (
                "An answer is still coming; Esc stops it." if self._loaded else "The model is being loaded."
            )
            self.notify(coming, markup=False)
        return self._feed is None

    def action_retry(self) -> None:
        """Answer the last question again."""
        if self.idle():
            if not self._talk.messages:
                self.complain("Nothing was answered yet. Ask something first.")
                return
            self._asked, self._begun = None, ""
            self.tell("The last question is answered again; the answer before is kept in the session.")
            self._follow(self._talk.retry)

    def action_go_on(self) -> None:
        """Go on with an answer that was stopped, or cut by its length."""
        if self.idle():
            if not self._talk.can_go_on:
                self.complain("The last answer ended by itself. Ask for more in words.")
                return
            self._asked, self._begun = None, plain_text(self._talk.messages[-1].content)
            # It is shown once, and grows.
            self.column.last_answer().remove()
            self._follow(self._talk.go_on)

    def action_undo(self) -> None:
        """Take the last turn back; its question returns to the input line."""
        if not self.idle():
            return
        try:
            question = self._talk.undo()
        except LookaheadError as error:
            self.complain(str(error))
            return
        self.column.show_instead(self._talk.messages)
        self.line.put(question)

    def action_raw(self) -> None:
        """Show the answers' tokens, or the answers as they read."""
        self.column.raw = not self.column.raw
        self._stream()

    def action_copy(self) -> None:
        """Copy the last answer."""
        self.command("/copy")

    def action_commands(self) -> None:
        """Say the commands."""
        self.command("/help")

    @on(PromptInput.EditorWanted)
    def edit(self) -> None:
        """The shell's chord asks for the editor as well."""
        self.action_editor()

    def action_editor(self) -> None:
        """Let the person's own editor have the line."""
        try:
            editor = find_editor()
            with self.suspend():
                text = edit_text(editor, self.line.text)
        except SuspendNotSupported:
            self.complain("An editor needs a terminal of its own, and here is none.")
        except LookaheadError as error:
            self.complain(str(error))
        else:
            self.line.put(text)

    @on(OptionList.OptionSelected, "#suggestions")
    def finish_line(self, event: OptionList.OptionSelected) -> None:
        """Take the line that was clicked."""
        self.line.finish(self.query_one(Suggestions).line_of(event.option_index))

    def change_model(self, spec: str) -> None:
        """Load another model, which goes on with the conversation; Esc keeps the one that answers."""
        if self.idle():
            self.tell(f"{spec} is loaded; esc keeps {self._talk.answerer.spec}.")
            self._load(_Loading(partial(self._talk.change_model, spec), spec))

    def show_conversation(self, heading: str) -> None:
        """Show another conversation, and nothing of the one before."""
        self._question = self._answer = None
        self.view = RunView()
        self.column.show_instead(self._talk.messages)
        self.tell(heading)
        if self._talk.system is not None:
            self.tell(f"System prompt: {self._talk.system}")
        if self._talk.unanswered is not None:
            self.line.put(self._talk.unanswered)
        self._show_run()

    def _follow(self, run: Callable[[threading.Event, Report], Events]) -> None:
        """Show an answer while it comes."""
        self._answer = self.column.begin_answer(self._begun)
        self._view_before, self.view = self.view, RunView()
        self._drive(_Turn(run))

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
                self._status = doing(event)
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
        self.show_title()
        self.panels.show(self.view)

    def show_title(self) -> None:
        """Say what answers, and how."""
        waiting_for = self._status or self._talk.answerer.title
        self.query_one("#title", Static).update(title_line(self.view, waiting_for, self.colours))

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
            colours = (self.colours.style("accepted"), self.colours.style("foreground"))
            looked_at = self.column.raw or self.view.footer
            tokens = tokens_so_far(self.view, self._begun, colours) if looked_at else None
            answer.show(self._begun + text_so_far(self.view), tokens)
        elif self._feed is not None:
            answer.waits(Text(f"{self._status}…", self.colours.style("muted")))

    def _end(self, feed: Feed) -> None:
        self._feed = None
        if self._loading is not None:
            self._end_loading(feed, self._loading)
            return
        footer = self.view.footer
        if isinstance(feed.failure, LookaheadError):
            self.complain(str(feed.failure))
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
        if self._answer is not None:
            self.column.end_answer(self._answer, self._talk.messages[-1])

    def _end_loading(self, feed: Feed, loading: _Loading) -> None:
        """Without a model a chat has nothing to do; with one, what was asked meanwhile is answered."""
        is_first, failure = loading.spec is None, feed.failure
        if (is_first and (failure or feed.cancelled)) or not isinstance(failure, LookaheadError | None):
            self.failure = failure
            self.exit()
            return
        self._loading = None
        self._status = ""
        answerer = self._talk.answerer
        if failure is not None:
            self.complain(str(failure))
        elif feed.cancelled:
            self.tell(f"{answerer.spec} answers as before.")
        elif not is_first:
            self.view = RunView()
            self.tell(f"{answerer.title} answers from now on.")
        if not answerer.knows_roles:
            self.tell(
                f"{answerer.spec} has no chat template: it goes on with the conversation as plain text."
            )
        self.show_title()
        early, self._early_question = self._early_question, None
        if early is not None and (failure or feed.cancelled):
            self._take_back(early)
        elif early is not None:
            self._ask(early)

    def _put_back(self) -> None:
        """Nothing came: the conversation has taken the question back, and it returns to the input line."""
        if self._asked is not None:
            self._take_back(self._asked)
        elif self._answer is not None:
            self._answer.remove()
            if self._begun:
                self.column.show_answer_again(self._talk.messages[-1])
        self.view, self._status = self._view_before, ""
        self._show_run()

    def _take_back(self, question: str) -> None:
        if not self.line.text:
            self.line.put(question)
        for said in (self._question, self._answer):
            if said is not None:
                said.remove()
        self._question = self._answer = None
        self._asked = None

    def action_stop(self) -> None:
        """End the answer within one step; what was asked while the model is loaded is taken back."""
        loading_first = self._loading is not None and self._loading.spec is None
        if self._feed is not None and not loading_first:
            self._feed.cancel()
        elif self._early_question is not None:
            self._take_back(self._early_question)
            self._early_question = None

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every command, and the keys that are none, for the command palette."""
        if not isinstance(screen, ModalScreen):
            yield from palette(COMMANDS, self)
        yield from commands_of(screen, without=IN_THE_TABLE)

    def action_panels(self, name: str = ALL) -> None:
        """Show or hide the panels, or one of them; it stays so."""
        self.panels.toggle(name)
        self._kept.keep_panels(self.panels.wanted)
        self._place_panels()
        if self.view.header is not None:
            self.panels.show(self.view)

    def action_scroll(self, by: int) -> None:
        """Look at what was said earlier or later."""
        self.column.page(by)

    def action_interrupt(self) -> None:
        """Empty the input line, as a shell does; where it is empty, leave."""
        if self.line.text:
            self.line.put("")
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


def run_chat(talk: Talk, *, theme: str | None, attached: str = "", kept: Kept | None = None) -> bool:
    """Hold a conversation on the whole terminal until the person leaves.

    Args:
        talk: The conversation.
        theme: A theme's name or file, None for the default.
        attached: Text that goes before the first question.
        kept: What is remembered from run to run.

    Returns:
        True where Ctrl+C ended it.

    Raises:
        BaseException: What failed unexpectedly while answering, after the screen is closed.
    """
    colours, complaint = load_theme_or_default(theme)
    end_with_terminal()
    app = ChatApp(talk, colours, notice=complaint, attached=attached, kept=kept)
    app.run()
    if app.failure is not None:
        raise app.failure
    return app.interrupted
