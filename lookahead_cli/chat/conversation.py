"""A conversation: its turns, the session that keeps them, and what of them is fed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lookahead_cli.chat.answering import Answering
from lookahead_cli.chat.prompts import Fed, Message, prompt_ids_of
from lookahead_cli.chat.said import UNFINISHED, Said
from lookahead_cli.errors import InputError, UsageError
from lookahead_cli.tui.talk import Events, Report

if TYPE_CHECKING:
    from lookahead_cli.chat.answerer import Answerer
    from lookahead_cli.models.language_model import LanguageModel
    from lookahead_cli.sessions.records import SessionInfo
    from lookahead_cli.sessions.session import Session


class Conversation:
    """Messages, the session that keeps them, and what was fed of them.

    Args:
        answerer: Who answers.
        session: Where it is kept, None for nowhere.
        system: The system prompt; None for the session's, if it has one.

    Attributes:
        messages: What was said, without what was taken back.
        session: The session.
        system: The system prompt.
        left_out: How many of the oldest messages are no longer fed.
        unanswered: A question of which nothing had been answered when the program was killed.
    """

    def __init__(self, answerer: Answerer, session: Session | None = None, system: str | None = None) -> None:
        self.answerer = answerer
        self.session = session
        self.system = system
        self.left_out = 0
        self.unanswered: str | None = None
        self.messages: list[Said] = []
        self._fed: Fed | None = None
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
        system: list[Message] = [{"role": "system", "content": self.system}] if self.system else []
        return system + [
            {"role": said.role, "content": said.content} for said in self.messages[self.left_out :]
        ]

    @property
    def can_go_on(self) -> bool:
        """True where the last answer did not end by itself."""
        return bool(self.messages) and self.messages[-1].finish_reason in UNFINISHED

    def ask(self, question: str, cancel: threading.Event, report: Report) -> Events:
        """Answer a question.

        The conversation has both afterwards; a question of which nothing was answered is taken back.

        Raises:
            LookaheadError: The model cannot be used, or the conversation does not fit it.
        """
        model = self.answerer.load(report)
        asked = time.perf_counter()
        self._add(question)
        try:
            prompt_ids = prompt_ids_of(model, self.fed_messages, self._fed)
            yield from self._answer(prompt_ids, None, asked, cancel, report)
        finally:
            if self.messages[-1].role == "user":
                self._forget_last(1)

    def retry(self, cancel: threading.Event, report: Report) -> Events:
        """Answer the last question again; the answer before stays on a branch of the session.

        Raises:
            UsageError: Nothing was answered yet.
            LookaheadError: The model cannot be used.
        """
        if not self.messages:
            raise UsageError("Nothing was answered yet.", "Ask something first.")
        model = self.answerer.load(report)
        with self._instead_of_last():
            fed = self._fed
            if fed is not None and list(fed.messages) == self.fed_messages:
                prompt_ids = fed.prompt_ids
            else:
                prompt_ids = prompt_ids_of(model, self.fed_messages)
            yield from self._answer(prompt_ids, None, time.perf_counter(), cancel, report)

    def go_on(self, cancel: threading.Event, report: Report) -> Events:
        """Go on with an answer that was stopped, or cut by its length.

        Raises:
            UsageError: The last answer ended by itself.
            LookaheadError: The model cannot be used.
        """
        if not self.can_go_on:
            raise UsageError("The last answer ended by itself.", "Ask for more in words.")
        text = self.messages[-1].content
        model = self.answerer.load(report)
        with self._instead_of_last():
            fed = self._fed
            if fed is None or list(fed.messages) != self.fed_messages or fed.text != text:
                prompt_ids = prompt_ids_of(model, self.fed_messages)
                ids = model.encode(text, special_tokens=False)
                fed = Fed(tuple(self.fed_messages), prompt_ids, ids, text)
            yield from self._answer(fed.prompt_ids, fed, time.perf_counter(), cancel, report)

    @contextmanager
    def _instead_of_last(self) -> Iterator[None]:
        """Take the last answer away for another one; it is back where none came."""
        answer = self.messages[-1]
        self._forget_last(1)
        try:
            yield
        finally:
            if self.messages[-1].role == "user":
                self.messages.append(answer)
                if self.session is not None:
                    self.session.go_back(answer.id)

    def undo(self) -> str:
        """Take the last question and its answer back; they stay on a branch of the session.

        Returns:
            The question.

        Raises:
            UsageError: Nothing was said yet.
        """
        if not self.messages:
            raise UsageError("There is nothing to take back.", "Ask something first.")
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
        self.left_out = 0
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
        self.left_out = 0
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
        from lookahead_cli.sessions.export import as_json, as_markdown

        session = self._kept()
        write = as_json if file.suffix == ".json" else as_markdown
        try:
            file.write_text(write(session.info, session.messages()), encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"'{file}' cannot be written ({error.strerror or error}).", "Choose another file."
            ) from error

    def _kept(self) -> Session:
        if self.session is None:
            raise UsageError("This conversation is not kept.", "Leave out --no-save to keep the next one.")
        return self.session

    def leave_out_oldest(self, model: LanguageModel, question: str, room: int) -> int:
        """Leave out the oldest turns until a question fits with `room` tokens for its answer.

        Returns:
            How many messages are left out now.

        Raises:
            InputError: The question alone does not fit.
        """
        limit = model.context_length
        while limit is not None:
            asked = [*self.fed_messages, {"role": "user", "content": question}]
            if len(prompt_ids_of(model, asked)) + room <= limit:
                break
            if self.left_out >= len(self.messages):
                raise InputError(
                    f"The question alone is longer than the model's context of {limit:,} tokens.",
                    "Shorten it.",
                )
            self.left_out += 2
        return self.left_out

    def _answer(
        self,
        prompt_ids: tuple[int, ...],
        begun: Fed | None,
        asked: float,
        cancel: threading.Event,
        report: Report,
    ) -> Events:
        """Take an answer into the conversation while it comes."""
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
        self.left_out = min(self.left_out, len(self.messages))
        if self.session is not None:
            self.session.go_back(self.messages[-1].id if self.messages else None)
