"""A conversation: its turns, the session that keeps them, and what of them is fed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lookahead_cli.chat.answering import Answering
from lookahead_cli.chat.checking import Checked, check_greedily
from lookahead_cli.chat.context import fed_messages
from lookahead_cli.chat.prompts import Fed, Message, prompt_ids_of
from lookahead_cli.chat.room import Room, make_room, write_summary
from lookahead_cli.chat.said import UNFINISHED, Said
from lookahead_cli.errors import UsageError
from lookahead_cli.tui.talk import ContextUse, Events, Report, WhenFull

if TYPE_CHECKING:
    from lookahead_cli.chat.answerer import Answerer
    from lookahead_cli.decoding.config import LookaheadConfig
    from lookahead_cli.sessions.records import SessionInfo
    from lookahead_cli.sessions.session import Session


class Conversation:
    """Messages, the session that keeps them, and what was fed of them.

    Args:
        answerer: Who answers.
        session: Where it is kept, None for nowhere.
        system: The system prompt; None for the session's, if it has one.
        when_full: What to do when the model's context is full.

    Attributes:
        messages: What was said, without what was taken back.
        session: The session.
        system: The system prompt.
        when_full: What to do when the model's context is full, where a turn does not say it.
        unanswered: A question of which nothing had been answered when the program was killed.
    """

    def __init__(
        self,
        answerer: Answerer,
        session: Session | None = None,
        system: str | None = None,
        when_full: WhenFull = "ask",
    ) -> None:
        self.answerer = answerer
        self.session = session
        self.system = system
        self.when_full = when_full
        self.unanswered: str | None = None
        self.messages: list[Said] = []
        self._fed: Fed | None = None
        self._answered_with: LookaheadConfig | None = None
        if session is not None:
            self._take_over(session)

    def _take_over(self, session: Session) -> None:
        if self.system is None:
            self.system = session.info.system
        else:
            session.set_system(self.system)
        self.messages = [Said.of(message) for message in session.messages()]
        if self.messages and self.messages[-1].role == "user":
            self.unanswered = self.messages[-1].content
            self._forget_last(1)

    @property
    def fed_messages(self) -> list[Message]:
        """What the model sees: the system prompt and what was not left out."""
        return fed_messages(self.system, self.messages)

    @property
    def context(self) -> ContextUse | None:
        """Tokens of what was said so far; None until a model is loaded."""
        model = self.answerer.loaded
        if model is None:
            return None
        fed, messages = self._fed_last, self.fed_messages
        if fed is not None:
            return ContextUse(len(fed.prompt_ids) + len(fed.output_ids), model.context_length)
        return ContextUse(len(prompt_ids_of(model, messages)) if messages else 0, model.context_length)

    @property
    def _fed_last(self) -> Fed | None:
        """What was fed, and came, of all that is said; None where something else was fed last."""
        fed = self._fed
        if fed is None or self.fed_messages != [*fed.messages, {"role": "assistant", "content": fed.text}]:
            return None
        return fed

    def check(self, cancel: threading.Event, report: Report) -> Checked | None:
        """Decode the last answer again, one token a step, and compare; None where that was stopped.

        Raises:
            UsageError: The last answer was not given here, or with settings that are no longer known.
            LookaheadError: The model cannot be used.
        """
        fed, config = self._fed_last, self._answered_with
        if fed is None or config is None:
            raise UsageError("There is no answer of this run to check.", "Ask something, or /retry.")
        return check_greedily(self.answerer, fed, config, cancel, report)

    @property
    def can_go_on(self) -> bool:
        """True where the last answer did not end by itself."""
        answer = next((said for said in reversed(self.messages) if said.role != "summary"), None)
        return answer is not None and answer.finish_reason in UNFINISHED

    def ask(
        self, question: str, cancel: threading.Event, report: Report, when_full: WhenFull | None = None
    ) -> Events:
        """Answer a question.

        The conversation has both afterwards; a question of which nothing was answered is taken back.

        Raises:
            ContextFullError: There is no room for an answer, and nothing is to be left out for it.
            LookaheadError: The model cannot be used, or the conversation does not fit it.
        """
        model = self.answerer.load(report)
        asked = time.perf_counter()
        if not self._find_room(question, 0, when_full, cancel, report):
            return
        self._add(question)
        try:
            prompt_ids = prompt_ids_of(model, self.fed_messages, self._fed)
            yield from self._answer(prompt_ids, None, asked, cancel, report)
        finally:
            if self.messages[-1].role == "user":
                self._forget_last(1)

    def retry(self, cancel: threading.Event, report: Report, when_full: WhenFull | None = None) -> Events:
        """Answer the last question again; the answer before stays on a branch of the session.

        Raises:
            UsageError: Nothing was answered yet.
            ContextFullError: There is no room for an answer, and nothing is to be left out for it.
            LookaheadError: The model cannot be used.
        """
        if not self.messages:
            raise UsageError("Nothing was answered yet.", "Ask something first.")
        model = self.answerer.load(report)
        asked = time.perf_counter()
        with self._instead_of_last():
            if not self._find_room_anew(0, when_full, cancel, report):
                return
            fed = self._fed
            if fed is not None and list(fed.messages) == self.fed_messages:
                prompt_ids = fed.prompt_ids
            else:
                prompt_ids = prompt_ids_of(model, self.fed_messages)
            yield from self._answer(prompt_ids, None, asked, cancel, report)

    def go_on(self, cancel: threading.Event, report: Report, when_full: WhenFull | None = None) -> Events:
        """Go on with an answer that was stopped, or cut by its length.

        Raises:
            UsageError: The last answer ended by itself.
            ContextFullError: There is no room for an answer, and nothing is to be left out for it.
            LookaheadError: The model cannot be used.
        """
        if not self.can_go_on:
            raise UsageError("The last answer ended by itself.", "Ask for more in words.")
        model = self.answerer.load(report)
        asked = time.perf_counter()
        with self._instead_of_last() as answer:
            fed, text = self._fed, answer.content
            is_kept = fed is not None and fed.text == text
            ids = fed.output_ids if fed is not None and is_kept else model.encode(text, special_tokens=False)
            if not self._find_room_anew(len(ids), when_full, cancel, report):
                return
            if fed is None or not is_kept or list(fed.messages) != self.fed_messages:
                fed = Fed(tuple(self.fed_messages), prompt_ids_of(model, self.fed_messages), ids, text)
            yield from self._answer(fed.prompt_ids, fed, asked, cancel, report)

    @contextmanager
    def _instead_of_last(self) -> Iterator[Said]:
        """Take the last answer away for another one; all is as it was where none came."""
        before = list(self.messages)
        self._forget_summaries()
        answer = self.messages[-1]
        self._forget_last(1)
        try:
            yield answer
        finally:
            if self.messages[-1].role != "assistant":
                self.messages = before
                self._go_back()

    def _find_room_anew(
        self, begun: int, when_full: WhenFull | None, cancel: threading.Event, report: Report
    ) -> bool:
        """The same for the question that was asked last; where room is made it is asked anew behind that."""
        question = self.messages.pop()
        count = len(self.messages)
        try:
            found = self._find_room(question.content, begun, when_full, cancel, report)
        finally:
            if len(self.messages) == count:
                self.messages.append(question)
        if self.messages[-1].role == "summary":
            self._add(question.content)
        return found

    def _find_room(
        self,
        question: str,
        begun: int,
        when_full: WhenFull | None,
        cancel: threading.Event,
        report: Report,
    ) -> bool:
        """See that there is room for an answer; False where that was stopped."""
        room = self._room(question, begun, report)
        if room is None or not room.is_full:
            return True
        made = make_room(self.answerer, room, when_full or self.when_full, self._fed, cancel, report)
        return self._put_in_place(made)

    def make_room(self, how: WhenFull, cancel: threading.Event, report: Report) -> bool:
        """Leave out all turns but the last, or let a summary stand for them, before the context is full.

        Returns:
            False where that was stopped.

        Raises:
            UsageError: There is nothing to leave out, or the model has no limit.
        """
        room = self._room("", 0, report)
        if room is None or len(room.candidates) < 2:
            raise UsageError("There is nothing to leave out.", "The last turn is fed in any case.")
        summarises = how == "summarise"
        summary = write_summary(self.answerer, room, self._fed, cancel, report) if summarises else ""
        made = None if summary is None else Said("summary", summary, covers=room.candidates[-2])
        return self._put_in_place(made)

    def _put_in_place(self, made: Said | None) -> bool:
        if made is None:
            return False
        self._go_back()
        if self.session is not None:
            made = replace(made, id=self.session.summarise(made.content, made.covers))
        self.messages.append(made)
        return True

    def _room(self, question: str, begun: int, report: Report) -> Room | None:
        model = self.answerer.load(report)
        if model.context_length is None:
            return None
        most_new = self.answerer.config.max_new_tokens
        return Room(model, model.context_length, self.system, tuple(self.messages), question, begun, most_new)

    def undo(self) -> str:
        """Take the last question and its answer back; they stay on a branch of the session.

        Returns:
            The question.

        Raises:
            UsageError: Nothing was said yet.
        """
        if not self.messages:
            raise UsageError("There is nothing to take back.", "Ask something first.")
        self._forget_summaries()
        question = self.messages[-2].content
        self._forget_last(2)
        return question

    def set_system(self, system: str | None) -> None:
        """Change the system prompt of the turns to come."""
        self.system = system
        if self.session is not None:
            self.session.set_system(system)

    def change_model(self, spec: str, report: Report) -> None:
        """Let another model answer from now on; where that fails, the one before stays.

        Raises:
            LookaheadError: The other one cannot be used.
        """
        self.answerer.change_model(spec, report)
        self._fed = None

    def begin_anew(self) -> None:
        """Forget what was said; it stays in its session, and a new one begins."""
        session = self.session
        if session is not None:
            self._enter(session.store.create(self.answerer.spec, self.system))
        else:
            self._forget_all()

    def sessions(self, text: str = "") -> list[SessionInfo]:
        """The sessions that were kept, those alone that have a text in them.

        Raises:
            UsageError: The conversation is not kept.
        """
        return self._kept().store.sessions(text)

    def go_to(self, name: str) -> str | None:
        """Leave this conversation, and go on with a session.

        Returns:
            The session that it is a copy of, where another program has that one open.

        Raises:
            UsageError: The conversation is not kept, or is that session already.
            InputError: There is no such session.
        """
        here = self._kept()
        wanted = here.store.find(name)
        if wanted.id == here.id:
            raise UsageError(f"This is the session '{wanted.name}'.", "/sessions lists the others.")
        session = here.store.open(wanted.id)
        self._enter(session)
        return session.copied_from

    def close(self) -> None:
        """Let others open its session."""
        if self.session is not None:
            self.session.close()

    def _enter(self, session: Session) -> None:
        self.close()
        self._forget_all()
        self.session = session
        self.system = None
        self._take_over(session)

    def _forget_all(self) -> None:
        self.messages = []
        self.unanswered = None
        self._fed = None

    def rename(self, name: str) -> str:
        """Call the session something else.

        Returns:
            The name it has now.

        Raises:
            UsageError: The conversation is not kept.
            InputError: The name is empty.
        """
        return self._kept().rename(name)

    def export(self, file: Path) -> None:
        """Write the conversation as Markdown, or as JSON to a file that is named so.

        Raises:
            UsageError: The conversation is not kept.
            InputError: The file cannot be written.
        """
        from lookahead_cli.sessions.export import write_export

        session = self._kept()
        write_export(session.info, session.messages(), file)

    def _kept(self) -> Session:
        if self.session is None:
            raise UsageError("This conversation is not kept.", "Leave out --no-save to keep the next one.")
        return self.session

    def _answer(
        self,
        prompt_ids: tuple[int, ...],
        begun: Fed | None,
        asked: float,
        cancel: threading.Event,
        report: Report,
    ) -> Events:
        """Take an answer into the conversation while it comes."""
        self._answered_with = self.answerer.config
        answering = Answering(self.answerer, self.session, tuple(self.fed_messages), prompt_ids, begun, asked)
        try:
            yield from answering.events(cancel, report)
        finally:
            if answering.said is not None:
                self.messages.append(answering.said)
                self._fed = answering.fed

    def _add(self, question: str) -> None:
        id = None if self.session is None else self.session.ask(question)
        self.messages.append(Said("user", question, id=id))

    def _forget_last(self, count: int) -> None:
        del self.messages[-count:]
        self._go_back()

    def _forget_summaries(self) -> None:
        """Room that was made for a turn of which nothing came is taken back with the turn before."""
        while self.messages and self.messages[-1].role == "summary":
            self._forget_last(1)

    def _go_back(self) -> None:
        if self.session is not None:
            self.session.go_back(self.messages[-1].id if self.messages else None)
