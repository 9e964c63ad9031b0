"""An open session: questions, and answers that are on disk step by step while they come."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from filelock import FileLock

from lookahead_cli.errors import InputError
from lookahead_cli.sessions.records import Figures, Role, SavedMessage, SessionInfo
from lookahead_cli.trace.events import Footer, Header, StepEvent
from lookahead_cli.trace.schema import to_json

if TYPE_CHECKING:
    from lookahead_cli.sessions.store import SessionStore

_NAME_LENGTH = 48


class Session:
    """An open session.

    Args:
        store: Where it is.
        id: Its number.
        lock: Held while it is open.
        named: False lets the first question give it a name.

    Attributes:
        copied_from: The session that this is a copy of, because another program has it open.
    """

    def __init__(self, store: SessionStore, id: int, lock: FileLock, *, named: bool) -> None:
        self.store = store
        self.id = id
        self.copied_from: str | None = None
        self._lock = lock
        self._named = named

    @property
    def info(self) -> SessionInfo:
        """Its name, model and counts."""
        return self.store.info(self.id)

    def messages(self) -> list[SavedMessage]:
        """Its messages, first to last."""
        return self.store.messages(self.id)

    def ask(self, content: str) -> int:
        """Add a question; returns the message's number."""
        if not self._named:
            self._named = True
            self.store.rename(self.id, _name_of(content))
        return self._add("user", content)

    def summarise(self, content: str, covers: int) -> int:
        """Let a summary, or nothing, stand for the first messages from here on.

        Args:
            content: The summary; empty where they are left out.
            covers: How many messages.

        Returns:
            Its number.
        """
        return self._add("summary", content, covers=covers)

    def rename(self, name: str) -> str:
        """Call it something else; the first question does not give it another name then.

        Returns:
            The name it has now.

        Raises:
            InputError: The name is empty.
        """
        chosen = self.store.rename(self.id, name)
        self._named = True
        return chosen

    def answer(self, model: str, text: str = "", ids: Sequence[int] = ()) -> Answer:
        """Begin an answer to the last question.

        Args:
            model: What `--model` said.
            text: What it begins with, for one that is gone on with.
            ids: The ids of that.
        """
        with self.store.database.changing() as database:
            database.execute("UPDATE session SET model = ? WHERE id = ?", (model, self.id))
        return Answer(self, self._add("assistant", text, ids))

    def go_back(self, message: int | None) -> None:
        """Make a message the last one; those behind it stay on a branch of their own."""
        with self.store.database.changing() as database:
            database.execute("UPDATE session SET head = ? WHERE id = ?", (message, self.id))

    def set_system(self, system: str | None) -> None:
        """Change the system prompt."""
        with self.store.database.changing() as database:
            database.execute("UPDATE session SET system = ? WHERE id = ?", (system, self.id))

    def mend(self) -> None:
        """Finish an answer that a killed program left, with what had come."""
        unfinished = [
            message
            for message in self.messages()
            if message.role == "assistant" and message.finish_reason is None
        ]
        for message in unfinished:
            footer = next((each for each in self.store.trace(message.id) if isinstance(each, Footer)), None)
            came = () if footer is None else footer.output_ids
            if not (message.ids or came):
                self.go_back(message.parent)
                continue
            figures, text = Figures(), message.content
            if footer is not None:
                figures = Figures(len(came), footer.steps, footer.seconds)
                text += footer.text
            self._finish(message.id, text, (*message.ids, *came), "cut", figures)

    def close(self) -> None:
        """Let others open it; a session in which nothing was said is deleted."""
        empty = self.info.messages == 0
        self._lock.release()
        if empty and not self._named:
            self.store.delete(self.id)

    def _add(self, role: Role, content: str, ids: Sequence[int] = (), covers: int = 0) -> int:
        now = time.time()
        with self.store.database.changing() as database:
            cursor = database.execute(
                "INSERT INTO message (session, parent, role, content, ids, created, covers)"
                " SELECT id, head, ?, ?, ?, ?, ? FROM session WHERE id = ?",
                (role, content, json.dumps(list(ids)), now, covers, self.id),
            )
            if cursor.rowcount != 1:
                raise InputError("The session was deleted meanwhile.", "Begin another one.")
            message = cursor.lastrowid
            assert message is not None
            database.execute("UPDATE session SET head = ?, updated = ? WHERE id = ?", (message, now, self.id))
        return message

    def _finish(
        self, message: int, text: str, ids: Sequence[int], finish_reason: str, figures: Figures
    ) -> None:
        with self.store.database.changing() as database:
            database.execute(
                "UPDATE message SET content = ?, ids = ?, finish_reason = ?, figures = ? WHERE id = ?",
                (text, json.dumps(list(ids)), finish_reason, json.dumps(asdict(figures)), message),
            )


class Answer:
    """An answer while it comes: every step is on disk before the next one is decoded.

    Args:
        session: The session.
        id: The message's number.
    """

    def __init__(self, session: Session, id: int) -> None:
        self.id = id
        self._session = session
        self._lines = 0

    def write(self, event: Header | StepEvent | Footer) -> None:
        """Keep an event of its run."""
        line = json.dumps(to_json(event), separators=(",", ":")).encode()
        with self._session.store.database.changing() as database:
            database.execute(
                "INSERT INTO trace VALUES (?, ?, ?)", (self.id, self._lines, zlib.compress(line, level=1))
            )
        self._lines += 1

    def finish(self, text: str, ids: Sequence[int], finish_reason: str, figures: Figures) -> None:
        """It is complete, or was stopped."""
        self._session._finish(self.id, text, ids, finish_reason, figures)

    def discard(self) -> None:
        """Nothing came: the question becomes the last message."""
        parent = self._session.store.database.read("SELECT parent FROM message WHERE id = ?", (self.id,))
        self._session.go_back(parent[0][0])


def _name_of(question: str) -> str:
    """The beginning of a question, as a name."""
    words = " ".join(question.split())
    if len(words) <= _NAME_LENGTH:
        return words
    return words[: _NAME_LENGTH - 1].rpartition(" ")[0] + "…"
