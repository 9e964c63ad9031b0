"""Sessions in SQLite: written as they go, readable after a kill, shared by several programs.

Messages form a tree: asking again or undoing moves the session's head to another branch, and nothing is
deleted. A session that is open holds a file lock, which the system gives back however its holder ended.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from lookahead_cli.errors import InputError
from lookahead_cli.sessions.records import Figures, Role, SavedMessage, SessionInfo
from lookahead_cli.trace.events import Footer, Header, StepEvent
from lookahead_cli.trace.reader import read_lines
from lookahead_cli.trace.schema import to_json

_VERSION = 1
_PATIENCE_SECONDS = 20.0
_NAME_LENGTH = 48
_SCHEMA = """
CREATE TABLE session (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, model TEXT NOT NULL, system TEXT,
    created REAL NOT NULL, updated REAL NOT NULL, head INTEGER
);
CREATE TABLE message (
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    parent INTEGER REFERENCES message, role TEXT NOT NULL, content TEXT NOT NULL, ids TEXT NOT NULL,
    finish_reason TEXT, figures TEXT, created REAL NOT NULL
);
CREATE INDEX message_of_session ON message (session);
CREATE TABLE trace (
    message INTEGER NOT NULL REFERENCES message ON DELETE CASCADE, number INTEGER NOT NULL,
    line BLOB NOT NULL,
    PRIMARY KEY (message, number)
) WITHOUT ROWID;
"""
_BRANCH = """
WITH RECURSIVE branch (id, parent, depth) AS (
    SELECT id, parent, 0 FROM message WHERE id = :head
    UNION ALL
    SELECT message.id, message.parent, depth + 1 FROM message JOIN branch ON message.id = branch.parent
)
"""
_SAID = "role, content, ids, finish_reason, figures, created"
_INFO = "SELECT id, name, model, system, created, updated, head FROM session"


class SessionStore:
    """Every session of a person; safe to use from several threads and programs at once.

    Args:
        folder: Where the file is; made where it is missing.

    Raises:
        InputError: The file cannot be opened, or was written by a newer version.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        path = folder / "sessions.db"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(
                path, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._database.execute("PRAGMA foreign_keys = ON")
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._prepare(path)
        except (OSError, sqlite3.Error) as error:
            raise InputError(
                f"The sessions in '{path}' cannot be opened: {error}.",
                "Give another folder in the environment variable LOOKAHEAD_DATA.",
            ) from error

    def _prepare(self, path: Path) -> None:
        with self.changing() as database:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version == 0:
                for statement in _SCHEMA.split(";"):
                    database.execute(statement)
                database.execute(f"PRAGMA user_version = {_VERSION}")
            elif version > _VERSION:
                raise InputError(f"'{path}' was written by a newer version.", "Update lookahead.")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """One change, all of it or nothing.

        Raises:
            InputError: The file cannot be written, such as on a full disk.
        """
        with self._lock, _told("written"):
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    def read(self, query: str, values: Any = ()) -> list[Any]:
        """The rows of a query.

        Raises:
            InputError: The file cannot be read.
        """
        with self._lock, _told("read"):
            return self._database.execute(query, values).fetchall()

    def sessions(self, text: str = "") -> list[SessionInfo]:
        """Every session, the newest first.

        Args:
            text: Only those that have it in the name or in a message; upper and lower case are the same.
        """
        rows = self.read(f"{_INFO} ORDER BY updated DESC, id DESC")
        if text:
            found = self.read(
                "SELECT DISTINCT session FROM message WHERE content LIKE ? ESCAPE '\\'"
                " UNION SELECT id FROM session WHERE name LIKE ? ESCAPE '\\'",
                (_pattern(text), _pattern(text)),
            )
            ids = {row[0] for row in found}
            rows = [row for row in rows if row[0] in ids]
        return [self._info(row) for row in rows]

    def find(self, name: str) -> SessionInfo:
        """The session of that name, or with a name that begins so.

        Raises:
            InputError: There is none, or several begin so.
        """
        all_sessions = self.sessions()
        exact = [each for each in all_sessions if each.name == name]
        close = exact or [each for each in all_sessions if each.name.lower().startswith(name.lower())]
        if len(close) == 1:
            return close[0]
        if close:
            names = ", ".join(f"'{each.name}'" for each in close[:5])
            raise InputError(f"Several sessions begin with '{name}': {names}.", "Give more of the name.")
        raise InputError(f"There is no session called '{name}'.", "`lookahead sessions` lists them.")

    def create(self, model: str, system: str | None = None, name: str | None = None) -> Session:
        """Begin a session, which is then open.

        Args:
            model: What answers.
            system: The system prompt.
            name: What to call it; None until the first question gives it one.
        """
        now = time.time()
        with self.changing() as database:
            chosen = self._free_name(name or time.strftime("%Y-%m-%d %H:%M", time.localtime(now)))
            cursor = database.execute(
                "INSERT INTO session (name, model, system, created, updated) VALUES (?, ?, ?, ?, ?)",
                (chosen, model, system, now, now),
            )
            assert cursor.lastrowid is not None
        return self.open(cursor.lastrowid, named=name is not None)

    def open(self, session: int, *, named: bool = True) -> Session:
        """Open a session; a copy of it where another program has it open.

        Args:
            session: Its number.
            named: False lets the first question give it a name.
        """
        lock = FileLock(self._folder / "locks" / f"{session}.lock")
        Path(lock.lock_file).parent.mkdir(exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return self._copy(session)
        opened = Session(self, session, lock, named=named)
        opened.mend()
        return opened

    def _copy(self, session: int) -> Session:
        """Another session with the same messages so far, for a second program."""
        info = self.info(session)
        with self.changing() as database:
            now = time.time()
            (head,) = database.execute("SELECT head FROM session WHERE id = ?", (session,)).fetchone()
            cursor = database.execute(
                "INSERT INTO session (name, model, system, created, updated) VALUES (?, ?, ?, ?, ?)",
                (self._free_name(info.name), info.model, info.system, now, now),
            )
            new, parent = cursor.lastrowid, None
            for message in self._branch(head):
                if message.role == "assistant" and message.finish_reason is None:
                    break  # It is still being answered over there.
                copied = database.execute(
                    f"INSERT INTO message (session, parent, {_SAID})"
                    f" SELECT ?, ?, {_SAID} FROM message WHERE id = ?",
                    (new, parent, message.id),
                )
                parent = copied.lastrowid
                database.execute(
                    "INSERT INTO trace SELECT ?, number, line FROM trace WHERE message = ?",
                    (parent, message.id),
                )
            database.execute("UPDATE session SET head = ? WHERE id = ?", (parent, new))
        assert new is not None
        opened = self.open(new)
        opened.copied_from = info.name
        return opened

    def info(self, session: int) -> SessionInfo:
        """What is known of a session.

        Raises:
            InputError: It is not there any more.
        """
        rows = self.read(f"{_INFO} WHERE id = ?", (session,))
        if not rows:
            raise InputError("The session was deleted meanwhile.", "Begin another one.")
        return self._info(rows[0])

    def rename(self, session: int, name: str) -> str:
        """Call a session something else; a number is added where that name is taken.

        Raises:
            InputError: The name is empty.
        """
        if not name.strip():
            raise InputError("A session needs a name.", "Give one.")
        with self.changing() as database:
            chosen = self._free_name(name.strip(), session)
            database.execute("UPDATE session SET name = ? WHERE id = ?", (chosen, session))
        return chosen

    def delete(self, session: int) -> None:
        """Delete a session with its messages and traces.

        Raises:
            InputError: Another program has it open.
        """
        lock = FileLock(self._folder / "locks" / f"{session}.lock")
        Path(lock.lock_file).parent.mkdir(exist_ok=True)
        try:
            with lock.acquire(timeout=0), self.changing() as database:
                database.execute("UPDATE message SET parent = NULL WHERE session = ?", (session,))
                database.execute("DELETE FROM session WHERE id = ?", (session,))
        except Timeout:
            raise InputError("That session is open.", "Leave the chat that has it first.") from None

    def messages(self, session: int) -> list[SavedMessage]:
        """The messages of a session's branch, first to last."""
        rows = self.read("SELECT head FROM session WHERE id = ?", (session,))
        return self._branch(rows[0][0] if rows else None)

    def trace(self, message: int) -> Iterator[Header | StepEvent | Footer]:
        """The events of an answer, as from a trace file; none where nothing of it was decoded."""
        lines = self.trace_lines(message)
        if lines:
            yield from read_lines(lines, "the session")

    def trace_lines(self, message: int) -> list[str]:
        """The same as the lines of a trace file."""
        rows = self.read("SELECT line FROM trace WHERE message = ? ORDER BY number", (message,))
        return [zlib.decompress(line).decode() + "\n" for (line,) in rows]

    def _branch(self, head: int | None) -> list[SavedMessage]:
        rows = self.read(
            f"{_BRANCH} SELECT message.id, message.parent, {_SAID}"
            " FROM branch JOIN message ON message.id = branch.id ORDER BY depth DESC",
            {"head": head},
        )
        return [_message(row) for row in rows]

    def _info(self, row: Sequence[Any]) -> SessionInfo:
        id, name, model, system, created, updated, head = row
        ((count,),) = self.read(f"{_BRANCH} SELECT count(*) FROM branch", {"head": head})
        return SessionInfo(id, name, model, system, created, updated, count)

    def _free_name(self, wanted: str, session: int | None = None) -> str:
        taken = {name for id, name in self.read("SELECT id, name FROM session") if id != session}
        names = (wanted if number == 1 else f"{wanted} ({number})" for number in range(1, len(taken) + 2))
        return next(name for name in names if name not in taken)


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
        with self.store.changing() as database:
            database.execute("UPDATE session SET model = ? WHERE id = ?", (model, self.id))
        return Answer(self, self._add("assistant", text, ids))

    def go_back(self, message: int | None) -> None:
        """Make a message the last one; those behind it stay on a branch of their own."""
        with self.store.changing() as database:
            database.execute("UPDATE session SET head = ? WHERE id = ?", (message, self.id))

    def set_system(self, system: str | None) -> None:
        """Change the system prompt."""
        with self.store.changing() as database:
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

    def _add(self, role: Role, content: str, ids: Sequence[int] = ()) -> int:
        now = time.time()
        with self.store.changing() as database:
            cursor = database.execute(
                "INSERT INTO message (session, parent, role, content, ids, created)"
                " SELECT id, head, ?, ?, ?, ? FROM session WHERE id = ?",
                (role, content, json.dumps(list(ids)), now, self.id),
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
        with self.store.changing() as database:
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
        with self._session.store.changing() as database:
            database.execute(
                "INSERT INTO trace VALUES (?, ?, ?)", (self.id, self._lines, zlib.compress(line, level=1))
            )
        self._lines += 1

    def finish(self, text: str, ids: Sequence[int], finish_reason: str, figures: Figures) -> None:
        """It is complete, or was stopped."""
        self._session._finish(self.id, text, ids, finish_reason, figures)

    def discard(self) -> None:
        """Nothing came: the question becomes the last message."""
        parent = self._session.store.read("SELECT parent FROM message WHERE id = ?", (self.id,))
        self._session.go_back(parent[0][0])


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Make one sentence of what SQLite says."""
    try:
        yield
    except sqlite3.Error as error:
        raise InputError(
            f"The sessions cannot be {what}: {error}.",
            "Free some space, or give another folder in the environment variable LOOKAHEAD_DATA.",
        ) from error


def _message(row: Sequence[Any]) -> SavedMessage:
    id, parent, role, content, ids, finish_reason, figures, created = row
    return SavedMessage(
        id=id,
        parent=parent,
        role=role,
        content=content,
        ids=tuple(json.loads(ids)),
        finish_reason=finish_reason,
        figures=None if figures is None else Figures(**json.loads(figures)),
        created=created,
    )


def _name_of(question: str) -> str:
    """The beginning of a question, as a name."""
    words = " ".join(question.split())
    if len(words) <= _NAME_LENGTH:
        return words
    return words[: _NAME_LENGTH - 1].rpartition(" ")[0] + "…"


def _pattern(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
