"""What a chat does, one at a time: a model is loaded, or a question answered, and its events are shown."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from rich.text import Text
from textual.widgets import Static

from lookahead_cli.errors import LookaheadError
from lookahead_cli.trace.events import Header, Progress
from lookahead_cli.tui.answer_text import text_so_far, tokens_so_far
from lookahead_cli.tui.answer_view import AnswerView
from lookahead_cli.tui.chat_title import doing
from lookahead_cli.tui.feed import Feed
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.source import EventSource
from lookahead_cli.tui.talk import Events, Report, Talk
from lookahead_cli.tui.token_text import plain_text

if TYPE_CHECKING:
    from lookahead_cli.tui.chat import ChatApp


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


class Turns:
    """Follows a model's loading and the answers, on the screen of a chat.

    Args:
        app: The screen.
        talk: The conversation.
        attached: Text that goes before the first question.

    Attributes:
        view: The run that answers, or answered last.
        answer: Where its text is shown.
        status: What is done before the first step.
    """

    def __init__(self, app: ChatApp, talk: Talk, attached: str) -> None:
        self.view = self._view_before = RunView()
        self.answer: AnswerView | None = None
        self.status = ""
        self._app = app
        self._talk = talk
        self._attached = attached
        self._feed: Feed | None = None
        self._loading: _Loading | None = None
        self._question: Static | None = None
        self._asked: str | None = None
        self._early: str | None = None
        self._begun = ""

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
        self._load(_Loading(self._talk.answerer.load))

    def change_model(self, spec: str) -> None:
        """Load another one, which goes on with the conversation."""
        self._load(_Loading(partial(self._talk.change_model, spec), spec))

    def _load(self, loading: _Loading) -> None:
        self._loading = loading
        self._drive(loading)

    def may_ask(self) -> bool:
        """True where a question is answered now, or as soon as the model is loaded."""
        return not self.busy or (self.loading and self._early is None)

    def ask(self, question: str) -> None:
        """Show a question, and answer it."""
        self._question = self._app.column.question(question)
        if self.busy:
            self._early = question
        else:
            self._ask(question)

    def _ask(self, question: str) -> None:
        self._asked, self._begun = question, ""
        whole = self._attached + question
        self._follow(lambda cancel, report: self._talk.ask(whole, cancel, report))

    def retry(self) -> None:
        """Answer the last question again."""
        self._asked, self._begun = None, ""
        self._follow(self._talk.retry)

    def go_on(self) -> None:
        """Go on with the last answer; it is shown once, and grows."""
        self._asked, self._begun = None, plain_text(self._talk.messages[-1].content)
        self._app.column.last_answer().remove()
        self._follow(self._talk.go_on)

    def _follow(self, run: Callable[[threading.Event, Report], Events]) -> None:
        self.answer = self._app.column.begin_answer(self._begun)
        self._view_before, self.view = self.view, RunView()
        self._drive(_Turn(run))

    def _drive(self, source: EventSource) -> None:
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
        elif self._early is not None:
            self._take_back(self._early)

    def cancel(self) -> None:
        """Stop whatever goes on."""
        if self._feed is not None:
            self._feed.cancel()

    def tick(self) -> None:
        """Show what came since the last time."""
        feed = self._feed
        if feed is None:
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
                self._app.place_panels()
        if news:
            self.stream()
            self._app.show_run()
        if finished:
            self._feed = None
            if self._loading is not None:
                self._end_loading(feed, self._loading)
            else:
                self._end_turn(feed)

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
            self._app.column.end_answer(self.answer, self._talk.messages[-1])

    def _put_back(self) -> None:
        """Nothing came: the conversation has taken the question back, and it returns to the input line."""
        if self._asked is not None:
            self._take_back(self._asked)
        elif self.answer is not None:
            self.answer.remove()
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
        self._question = self._asked = self._early = None

    def _end_loading(self, feed: Feed, loading: _Loading) -> None:
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
        if self._early is not None and is_there:
            early, self._early = self._early, None
            self._ask(early)
        elif self._early is not None:
            self._take_back(self._early)
