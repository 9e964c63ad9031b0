"""What a chat does, one at a time: a model is loaded, or a question answered, and its events are shown."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text
from textual.widgets import Static

from lookahead_cli.errors import ContextFullError, LookaheadError
from lookahead_cli.trace.events import Header, Progress
from lookahead_cli.trace.words import counted
from lookahead_cli.tui.answer_text import text_so_far, tokens_so_far
from lookahead_cli.tui.answer_view import AnswerView
from lookahead_cli.tui.chat_sources import Checking, Loading, MakingRoom, Run, Turn
from lookahead_cli.tui.chat_title import doing
from lookahead_cli.tui.context_meter import WARNING_SHARE, WHEN_FULL, use_of
from lookahead_cli.tui.drawing_share import DrawingShare
from lookahead_cli.tui.feed import Feed
from lookahead_cli.tui.room_screen import RoomScreen
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.slash import is_command
from lookahead_cli.tui.source import EventSource
from lookahead_cli.tui.talk import ContextUse, Said, Talk, WhenFull
from lookahead_cli.tui.thinking import opens_thinking
from lookahead_cli.tui.token_text import screen_text

if TYPE_CHECKING:
    from lookahead_cli.tui.chat import ChatApp


class Turns:
    """Follows a model's loading and the answers, on the screen of a chat.

    Args:
        app: The screen.
        talk: The conversation.
        attached: Text that goes before the first question.
        checks: True where each answer is compared with greedy decoding until the next line comes.

    Attributes:
        view: The run that answers, or answered last.
        answer: Where its text is shown.
        status: What is done before the first step.
    """

    def __init__(self, app: ChatApp, talk: Talk, attached: str, *, checks: bool = False) -> None:
        self.view = self._view_before = RunView()
        self.answer: AnswerView | None = None
        self.status = ""
        self._app = app
        self._talk = talk
        self._attached = attached
        self._checks = checks
        self._feed: Feed | None = None
        self._drawing = DrawingShare()
        self._loading: Loading | None = None
        self._question: Static | None = None
        self._asked: str | None = None
        self._held: str | None = None
        self._begun = ""
        self._run: Run | None = None
        self._known_summary: Said | None = None
        self._summary: Static | None = None
        self._use: ContextUse | None = None
        self._warned = False

    @property
    def context(self) -> ContextUse | None:
        """How much of the model's context is used, by the answer that comes or by what was said."""
        if self._use is not None and self.busy and not self.loading:
            return use_of(self.view, self._use.limit) or self._use
        return self._use

    def count_context(self) -> None:
        """Count what was said; a person is warned once before it is too much."""
        use = self._use = self._talk.context
        is_near = use is not None and use.share >= WARNING_SHARE
        if use is not None and is_near and not self._warned:
            self._app.tell(
                f"{100 * use.share:.0f} % of the model's context is used. {WHEN_FULL[self._talk.when_full]} "
                "/context drop and /context summarise make room now."
            )
        self._warned = is_near

    @property
    def busy(self) -> bool:
        """True while something is loaded or answered."""
        return self._feed is not None

    @property
    def loading(self) -> bool:
        """True while a model is loaded."""
        return self._loading is not None

    def load(self) -> None:
        """Load the first model; without one a chat has nothing to do."""
        loading = self._loading = Loading(self._talk.answerer.load)
        feed = self._feed = Feed(loading, None, lambda: None)
        self._known_summary = self._newest_summary
        # What was said is on the screen first: importing torch leaves little time beside it.
        self._app.call_after_refresh(self._app.run_worker, feed.drive, thread=True, exit_on_error=False)

    def change_model(self, spec: str) -> None:
        """Load another one, which goes on with the conversation."""
        self._loading = Loading(partial(self._talk.change_model, spec), spec)
        self._drive(self._loading)

    def may_ask(self) -> bool:
        """True where a line is taken now, or as soon as the model is loaded, or a check has stopped."""
        return not self.busy or ((self.loading or self.checking) and self._held is None)

    @property
    def checking(self) -> bool:
        """True while an answer is compared with greedy decoding."""
        return self._feed is not None and isinstance(self._feed.source, Checking)

    def ask(self, question: str) -> None:
        """Show a question, and answer it."""
        self._question = self._app.column.question(question)
        if self.busy:
            self._held = question
            self._end_check()
        else:
            self._ask(question)

    def hold(self, command: str) -> None:
        """Do it as soon as the model is loaded, or a check has stopped."""
        self._held = command
        if self.checking:
            self._question = None
            self._end_check()
            return
        self._question = self._app.column.tell(
            f"{command} waits until the model is loaded; esc takes it back."
        )

    def _ask(self, question: str) -> None:
        self._asked, self._begun = question, ""
        whole = self._attached + question
        self._follow(partial(self._talk.ask, whole))

    def retry(self) -> None:
        """Answer the last question again."""
        self._asked, self._begun = None, ""
        self._follow(self._talk.retry)

    def go_on(self) -> None:
        """Go on with the last answer; it is shown once, and grows."""
        self._asked, self._begun = None, screen_text(self._talk.messages[-1].content)
        self._app.column.last_answer().remove()
        self._follow(self._talk.go_on)

    def attach(self, file: Path) -> None:
        """Let a file's text go before the next question.

        Raises:
            InputError: It cannot be read, or is no text.
        """
        text = self._app.attach(file)
        self._attached += text
        self._app.tell(f"{file.name} goes with the next question: {counted(len(text), 'character')}.")

    def detach(self) -> None:
        """Let nothing go before it."""
        self._attached = ""
        self._app.tell("No file goes with the next question.")

    def check(self) -> None:
        """Compare the last answer with greedy decoding."""
        self._drive(Checking(self._talk.check))

    def _end_check(self) -> None:
        """What a person wants comes before a check."""
        if self._feed is not None and self.checking:
            self._feed.cancel()

    def make_room(self, how: WhenFull) -> None:
        """Leave out the oldest turns, or let the model summarise them, before the context is full."""
        self._drive(MakingRoom(partial(self._talk.make_room, how)))

    def _follow(self, run: Run) -> None:
        self._run = run
        self.answer = self._app.column.begin_answer(self._begun)
        self._view_before, self.view = self.view, RunView()
        self._drive(Turn(run))

    def _drive(self, source: EventSource) -> None:
        self._known_summary, self._summary = self._newest_summary, None
        self._feed = Feed(source, None, lambda: None)
        self._app.run_worker(self._feed.drive, thread=True, exit_on_error=False)

    def forget(self) -> None:
        """Nothing of what was shown is there any more."""
        self._question = self.answer = None
        self.view = RunView()

    def stop(self) -> None:
        """End the answer within one step, or the loading of another model.

        What was asked while the first model is loaded is taken back.
        """
        loads_first = self._loading is not None and self._loading.spec is None
        if self._feed is not None and not loads_first:
            self._feed.cancel()
        elif self._held is not None:
            self._take_back(self._held)

    def cancel(self) -> None:
        """Stop whatever goes on."""
        if self._feed is not None:
            self._feed.cancel()

    def tick(self) -> None:
        """Show what came since the last time."""
        feed = self._feed
        if feed is None or not (feed.ended or (feed.has_news and self._drawing.is_due())):
            return
        news = feed.take()
        finished = feed.finished
        for event in news:
            if isinstance(event, Progress):
                self.status = doing(event)
            else:
                self.view.take(event)
                self.status = ""
            if isinstance(event, Header):
                if self.answer is not None:
                    self.answer.thinks_first = opens_thinking(event.prompt)
                self._app.place_panels()
                self._show_summary()
        if news:
            if not self.checking:
                self.stream()
            self._app.show_run()
        if finished:
            self._feed = None
            if self._loading is not None:
                self._end_loading(feed, self._loading)
            elif isinstance(feed.source, MakingRoom):
                self._end_making_room(feed)
                self.count_context()
            elif isinstance(feed.source, Checking):
                self._end_checking(feed, feed.source)
            else:
                self._end_turn(feed)
                self.count_context()
            self._app.show_context()

    @property
    def _newest_summary(self) -> Said | None:
        return next((said for said in reversed(self._talk.messages) if said.role == "summary"), None)

    def _show_summary(self) -> None:
        """Show what is no longer fed, where this turn needed the room."""
        made = self._newest_summary
        if made is not None and made is not self._known_summary:
            before = self.answer if self._asked is None else self._question
            self._summary = self._app.column.show_summary(made, before)
            self._known_summary = made

    def _end_making_room(self, feed: Feed) -> None:
        self.status = ""
        if isinstance(feed.failure, LookaheadError):
            self._app.complain(str(feed.failure))
        elif feed.failure is not None:
            self._app.fail(feed.failure)
        else:
            self._asked, self.answer = None, None
            self._show_summary()
        self._app.show_title()

    def _end_checking(self, feed: Feed, checking: Checking) -> None:
        self.status = ""
        checked = checking.result
        if isinstance(feed.failure, LookaheadError):
            self._app.complain(str(feed.failure))
        elif feed.failure is not None:
            self._app.fail(feed.failure)
        elif checked is not None:
            self._app.column.show_check(self._app.column.last_answer(), checked.words, checked.ids_equal)
        elif self._held is None:
            self._app.tell("The check was stopped; /check begins it anew.")
        self._app.show_title()
        if self._held is not None:
            self._end_holding(self._held, is_there=True)

    def stream(self) -> None:
        """The answer so far; the last step's footer brings the tokenizer's own text."""
        answer, colours = self.answer, self._app.colours
        if answer is None:
            return
        if not answer.is_mounted:
            self._app.call_after_refresh(self.stream)
            return
        if self.view.steps or self.view.footer:
            # Every token in its colour is much to draw: while it comes only where it is looked at.
            pair = (colours.style("accepted"), colours.style("foreground"))
            looked_at = self._app.column.raw or self.view.footer
            tokens = tokens_so_far(self.view, self._begun, pair) if looked_at else None
            answer.show(self._begun + text_so_far(self.view), tokens)
        elif self.busy:
            answer.waits(Text(f"{self.status}…", colours.style("muted")))

    def _end_turn(self, feed: Feed) -> None:
        footer = self.view.footer
        if isinstance(feed.failure, ContextFullError) and self._talk.when_full == "ask":
            self._app.push_screen(RoomScreen(self._app.colours, feed.failure.message), self._go_on_with_room)
            return
        if isinstance(feed.failure, LookaheadError):
            self._app.complain(str(feed.failure))
        elif feed.failure is not None:
            self._app.fail(feed.failure)
            return
        if footer is None or (footer.finish_reason == "cancelled" and not footer.output_ids):
            self._put_back()
            return
        if self._asked is not None:
            self._attached = ""
        self._asked = None
        if self.answer is not None:
            self._app.column.end_answer(self.answer, self._talk.messages)
            if self._checks and feed.failure is None and not self._app.leaving:
                self.check()

    def _go_on_with_room(self, how: WhenFull | None) -> None:
        """Answer, now that a person said how room is to be made."""
        if how in (None, "stop") or self._run is None:
            self._put_back()
        else:
            self._drive(Turn(self._run, how))

    def _put_back(self) -> None:
        """Nothing came: the conversation has taken the question back, and it returns to the input line."""
        if self._asked is not None:
            self._take_back(self._asked)
        elif self.answer is not None:
            self.answer.remove()
            if self._summary is not None:
                self._summary.remove()
            if self._begun:
                self._app.column.show_answer_again(self._talk.messages[-1])
        self.view, self.status = self._view_before, ""
        self._app.show_run()

    def _take_back(self, question: str) -> None:
        if not self._app.line.text:
            self._app.line.put(question)
        if self._question is not None:
            self._question.remove()
        if self._asked is not None and self.answer is not None:
            self.answer.remove()
            self.answer = None
        self._question = self._asked = self._held = None

    def _end_loading(self, feed: Feed, loading: Loading) -> None:
        """What was asked meanwhile is answered where the wanted model is there."""
        app, answerer, failure = self._app, self._talk.answerer, feed.failure
        if not isinstance(failure, LookaheadError | None) or (
            loading.spec is None and (failure or feed.cancelled)
        ):
            app.fail(failure)
            return
        self._loading = None
        self.status = ""
        # A stop may come when all is done already.
        is_there = loading.spec in (None, answerer.spec) and failure is None
        if failure is not None:
            app.complain(str(failure))
        elif not is_there:
            app.tell(f"{answerer.spec} answers as before.")
        elif loading.spec is not None:
            self.view = RunView()
            app.tell(f"{answerer.title} answers from now on.")
        if is_there and not answerer.knows_roles:
            app.tell(f"{answerer.spec} has no chat template: it goes on with the conversation as plain text.")
        app.show_title()
        self.count_context()
        if self._held is not None:
            self._end_holding(self._held, is_there)

    def _end_holding(self, held: str, is_there: bool) -> None:
        """Do, or give back, what waited for the model."""
        self._held = None
        if not is_there:
            self._take_back(held)
        elif is_command(held):
            if self._question is not None:
                self._question.remove()
                self._question = None
            self._app.command(held)
        else:
            self._ask(held)
