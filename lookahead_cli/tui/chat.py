"""The chat screen: a conversation with the live panels beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import App, ComposeResult, SuspendNotSupported, SystemCommand
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.events import Resize
from textual.screen import ModalScreen, Screen
from textual.widgets import OptionList, Static

from lookahead_cli.errors import LookaheadError, UsageError
from lookahead_cli.tui.chat_column import ConversationColumn
from lookahead_cli.tui.chat_commands import COMMANDS
from lookahead_cli.tui.chat_keys import CHAT_KEYS, CHAT_NEEDED, IN_THE_TABLE
from lookahead_cli.tui.chat_panels import ALL, PanelsColumn
from lookahead_cli.tui.chat_title import title_line
from lookahead_cli.tui.chat_turns import Turns
from lookahead_cli.tui.commands import commands_of
from lookahead_cli.tui.context_meter import ContextMeter
from lookahead_cli.tui.editor import edit_text, find_editor
from lookahead_cli.tui.kept import Kept
from lookahead_cli.tui.key_bar import KeyBar
from lookahead_cli.tui.keys import PANELS
from lookahead_cli.tui.prompt_input import PromptInput
from lookahead_cli.tui.run_control import REDRAWS_A_SECOND
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.slash import command_of, is_command, offers, palette
from lookahead_cli.tui.suggestions import Suggestions
from lookahead_cli.tui.talk import Talk
from lookahead_cli.tui.terminal import end_with_terminal
from lookahead_cli.tui.textual_theme import textual_theme
from lookahead_cli.tui.theme import Theme, load_theme_or_default

_WELCOME = (
    "Ask something below: enter sends, shift+enter or ctrl+j begins a new line, esc stops an answer, / lists "
    "the commands, F2 shows or hides the decoding panels, ctrl+q leaves."
)


class ChatApp(App[None]):
    """A conversation.

    Args:
        talk: The conversation.
        theme: The colours.
        attach: Gives the text of a file, as it goes before a question.
        notice: A sentence to show at the start.
        attached: Text that goes before the first question.
        kept: What is remembered from run to run.
        checks: True where each answer is compared with greedy decoding until the next line comes.
    """

    TITLE = "lookahead chat"
    CSS = """
    #top { height: 1; }
    #title { height: 1; width: 1fr; }
    #body { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = CHAT_KEYS
    turns: Turns

    def __init__(
        self,
        talk: Talk,
        theme: Theme,
        *,
        attach: Callable[[Path], str],
        notice: str | None = None,
        attached: str = "",
        kept: Kept | None = None,
        checks: bool = False,
    ) -> None:
        super().__init__()
        self.colours = theme
        self.attach = attach
        self.turns = Turns(self, talk, attached, checks=checks)
        self.leaving = False
        self.interrupted = False
        self.failure: BaseException | None = None
        self._talk = talk
        self._notice = notice
        self._kept = kept or Kept(None)

    def compose(self) -> ComposeResult:
        """Title, conversation and panels, input line, keys."""
        with Horizontal(id="top"):
            yield Static(id="title", markup=False)
            yield ContextMeter(self.colours)
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
        yield KeyBar(self.colours, CHAT_NEEDED)

    @property
    def view(self) -> RunView:
        """The run that answers, or answered last."""
        return self.turns.view

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
        self.turns.load()

    def on_resize(self, event: Resize) -> None:
        """Find the panels their places for the new size."""
        self.place_panels()
        self.show_context()

    def place_panels(self) -> None:
        """Find the panels their places for this size and this run."""
        self.panels.place(*self.size, self.view)

    @on(PromptInput.Submitted)
    def ask(self, event: PromptInput.Submitted) -> None:
        """Send the text, once the model is there; what comes too early stays in the line."""
        text = event.text
        if is_command(text):
            self._take(text)
            if not self.command(text) and not self.line.text:
                self.line.put(text)
        elif self.turns.may_ask():
            self._take(text)
            self.turns.ask(text)
        else:
            self._refuse()

    def _take(self, text: str) -> None:
        self.line.take(text)
        self._kept.add_question(text)

    def command(self, text: str) -> bool:
        """Do what a line that begins with a slash says; a mistake is said below the conversation.

        What needs the model is held until it is loaded.

        Returns:
            False where it must wait for an answer, and nothing was done.
        """
        try:
            command, behind = command_of(COMMANDS, text)
            if not self.turns.busy or not command.waits(self, behind):
                command.run(self, behind)
            elif self.turns.may_ask():
                self.turns.hold(text)
            else:
                self._refuse()
                return False
        except LookaheadError as error:
            self.complain(str(error))
        return True

    def _refuse(self) -> None:
        """Say what has to end first."""
        self.notify(
            "The model is being loaded, and one line waits for it already; Esc takes that back."
            if self.turns.loading
            else "The answer before is still coming; Esc stops it.",
            markup=False,
        )

    def complain(self, message: str) -> None:
        """Say what went wrong."""
        self.column.complain(message)

    def tell(self, message: str) -> None:
        """Say something that is no part of the conversation."""
        self.column.tell(message)

    def action_command(self, word: str) -> None:
        """Do what a key stands for."""
        self.command(f"/{word}")

    def retry(self) -> None:
        """Answer the last question again.

        Raises:
            UsageError: Nothing was answered yet.
        """
        if not self._talk.messages:
            raise UsageError("Nothing was answered yet.", "Ask something first.")
        self.tell("The last question is answered again; the answer before is kept in the session.")
        self.turns.retry()

    def go_on(self) -> None:
        """Go on with an answer that was stopped, or cut by its length.

        Raises:
            UsageError: The last answer ended by itself.
        """
        if not self._talk.can_go_on:
            raise UsageError("The last answer ended by itself.", "Ask for more in words.")
        self.turns.go_on()

    def undo(self) -> None:
        """Take the last turn back; its question returns to the input line.

        Raises:
            UsageError: Nothing was said yet.
        """
        question = self._talk.undo()
        self.turns.forget()
        self.column.show_instead(self._talk.messages)
        self.line.put(question)
        self.turns.count_context()
        self.show_run()

    def action_raw(self) -> None:
        """Show the answers' tokens, or the answers as they read."""
        self.column.raw = not self.column.raw
        self.turns.stream()

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
        self.tell(f"{spec} is loaded; esc keeps {self._talk.answerer.spec}.")
        self.turns.change_model(spec)

    def show_conversation(self, heading: str) -> None:
        """Show another conversation, and nothing of the one before."""
        self.turns.forget()
        self.column.show_instead(self._talk.messages)
        self.tell(heading)
        if self._talk.system is not None:
            self.tell(f"System prompt: {self._talk.system}")
        if self._talk.unanswered is not None:
            self.line.put(self._talk.unanswered)
        self.turns.count_context()
        self.show_run()

    def _tick(self) -> None:
        self.turns.tick()
        if self.leaving and not self.turns.busy:
            self.exit()

    def fail(self, failure: BaseException | None) -> None:
        """Leave, and raise what failed where the screen was opened."""
        self.failure = failure
        self.exit()

    def show_run(self) -> None:
        """Show the newest step."""
        self.show_title()
        self.show_context()
        self.panels.show(self.view)

    def show_title(self) -> None:
        """Say what answers, and how."""
        line = title_line(self.view, self.turns.status, self._talk.answerer.title, self.colours)
        self.query_one("#title", Static).update(line)

    def show_context(self) -> None:
        """Say how much of the model's context is used."""
        self.query_one(ContextMeter).show(self.turns.context)

    def action_stop(self) -> None:
        """End the answer within one step; what was asked while the model is loaded is taken back."""
        self.turns.stop()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every command, and the keys that are none, for the command palette."""
        if not isinstance(screen, ModalScreen):
            yield from palette(COMMANDS, self)
        explained = None if isinstance(screen, ModalScreen) else PANELS
        yield from commands_of(screen, self.colours, explained=explained, without=IN_THE_TABLE)

    def action_panels(self, name: str = ALL) -> None:
        """Show or hide the panels, or one of them; it stays so."""
        self.panels.toggle(name)
        self._kept.keep_panels(self.panels.wanted)
        self.place_panels()
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

    def on_unmount(self) -> None:
        """Nothing goes on behind a screen that is closed."""
        self.turns.cancel()

    def action_leave(self) -> None:
        """Stop within one step and leave; asked twice, leave at once."""
        if not self.turns.busy or self.leaving:
            self.exit()
            return
        self.turns.cancel()
        self.leaving = True


def run_chat(
    talk: Talk,
    *,
    theme: str | None,
    attach: Callable[[Path], str],
    attached: str = "",
    kept: Kept | None = None,
    checks: bool = False,
) -> bool:
    """Hold a conversation on the whole terminal until the person leaves.

    Args:
        talk: The conversation.
        theme: A theme's name or file, None for the default.
        attach: Gives the text of a file, as it goes before a question.
        attached: Text that goes before the first question.
        kept: What is remembered from run to run.
        checks: True where each answer is compared with greedy decoding until the next line comes.

    Returns:
        True where Ctrl+C ended it.

    Raises:
        BaseException: What failed unexpectedly while answering, after the screen is closed.
    """
    colours, complaint = load_theme_or_default(theme)
    end_with_terminal()
    app = ChatApp(talk, colours, attach=attach, notice=complaint, attached=attached, kept=kept, checks=checks)
    app.run()
    if app.failure is not None:
        raise app.failure
    return app.interrupted
