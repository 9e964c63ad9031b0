"""Sessions in SQLite: listed, found, opened, copied and deleted; shared by several programs.

Asking again or undoing moves a session's head to another branch of its messages, and nothing is deleted. A
session that is open holds a file lock, which the system gives back however its holder ended.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from lookahead_cli.errors import InputError
from lookahead_cli.sessions.database import Database
from lookahead_cli.sessions.records import Figures, SavedMessage, SessionInfo
from lookahead_cli.sessions.session import Session
from lookahead_cli.trace.events import Footer, Header, StepEvent
from lookahead_cli.trace.reader import read_lines

_BRANCH = """
WITH RECURSIVE branch (id, parent, depth) AS (
    SELECT id, parent, 0 FROM message WHERE id = :head
    UNION ALL
    SELECT message.id, message.parent, depth + 1 FROM message JOIN branch ON message.id = branch.parent
)
"""
_SAID = "role, content, ids, finish_reason, figures, created, covers"
_INFO = "SELECT id, name, model, system, created, updated, head FROM session"


class SessionStore:
    """Every session of a person; safe to use from several threads and programs at once.

    Args:
        folder: Where the file is; made where it is missing.

    Attributes:
        database: The file.

    Raises:
        InputError: The file cannot be opened, or was written by a newer version.
    """

    def __init__(self, folder: Path) -> None:
        self.database = Database(folder / "sessions.db")
        self._folder = folder

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def sessions(self, text: str = "") -> list[SessionInfo]:
        """Every session, the newest first.

        Args:
            text: Only those that have it in the name or in a message; upper and lower case are the same.
        """
        rows = self.database.read(f"{_INFO} ORDER BY updated DESC, id DESC")
        if text:
            found = self.database.read(
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
        with self.database.changing() as connection:
            chosen = self._free_name(name or time.strftime("%Y-%m-%d %H:%M", time.localtime(now)))
            cursor = connection.execute(
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
        with self.database.changing() as connection:
            now = time.time()
            (head,) = connection.execute("SELECT head FROM session WHERE id = ?", (session,)).fetchone()
            cursor = connection.execute(
                "INSERT INTO session (name, model, system, created, updated) VALUES (?, ?, ?, ?, ?)",
                (self._free_name(info.name), info.model, info.system, now, now),
            )
            new, parent = cursor.lastrowid, None
            for message in self._branch(head):
                if message.role == "assistant" and message.finish_reason is None:
                    break  # It is still being answered over there.
                copied = connection.execute(
                    f"INSERT INTO message (session, parent, {_SAID})"
                    f" SELECT ?, ?, {_SAID} FROM message WHERE id = ?",
                    (new, parent, message.id),
                )
                parent = copied.lastrowid
                connection.execute(
                    "INSERT INTO trace SELECT ?, number, line FROM trace WHERE message = ?",
                    (parent, message.id),
                )
            connection.execute("UPDATE session SET head = ? WHERE id = ?", (parent, new))
        assert new is not None
        opened = self.open(new)
        opened.copied_from = info.name
        return opened

    def info(self, session: int) -> SessionInfo:
        """What is known of a session.

        Raises:
            InputError: It is not there any more.
        """
        rows = self.database.read(f"{_INFO} WHERE id = ?", (session,))
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
        with self.database.changing() as connection:
            chosen = self._free_name(name.strip(), session)
            connection.execute("UPDATE session SET name = ? WHERE id = ?", (chosen, session))
        return chosen

    def delete(self, session: int) -> None:
        """Delete a session with its messages and traces.

        Raises:
            InputError: Another program has it open.
        """
        lock = FileLock(self._folder / "locks" / f"{session}.lock")
        Path(lock.lock_file).parent.mkdir(exist_ok=True)
        try:
            with lock.acquire(timeout=0), self.database.changing() as connection:
                connection.execute("UPDATE message SET parent = NULL WHERE session = ?", (session,))
                connection.execute("DELETE FROM session WHERE id = ?", (session,))
        except Timeout:
            raise InputError("That session is open.", "Leave the chat that has it first.") from None

    def messages(self, session: int) -> list[SavedMessage]:
        """The messages of a session's branch, first to last."""
        rows = self.database.read("SELECT head FROM session WHERE id = ?", (session,))
        return self._branch(rows[0][0] if rows else None)

    def trace(self, message: int) -> Iterator[Header | StepEvent | Footer]:
        """The events of an answer, as from a trace file; none where nothing of it was decoded."""
        lines = self.trace_lines(message)
        if lines:
            yield from read_lines(lines, "the session")

    def trace_lines(self, message: int) -> list[str]:
        """The same as the lines of a trace file."""
        rows = self.database.read("SELECT line FROM trace WHERE message = ? ORDER BY number", (message,))
        return [zlib.decompress(line).decode() + "\n" for (line,) in rows]

    def _branch(self, head: int | None) -> list[SavedMessage]:
        rows = self.database.read(
            f"{_BRANCH} SELECT message.id, message.parent, {_SAID}"
            " FROM branch JOIN message ON message.id = branch.id ORDER BY depth DESC",
            {"head": head},
        )
        return [_message(row) for row in rows]

    def _info(self, row: Sequence[Any]) -> SessionInfo:
        id, name, model, system, created, updated, head = row
        ((count,),) = self.database.read(
            f"{_BRANCH} SELECT count(*) FROM branch JOIN message ON message.id = branch.id"
            " WHERE role != 'summary'",
            {"head": head},
        )
        return SessionInfo(id, name, model, system, created, updated, count)

    def _free_name(self, wanted: str, session: int | None = None) -> str:
        taken = {name for id, name in self.database.read("SELECT id, name FROM session") if id != session}
        names = (wanted if number == 1 else f"{wanted} ({number})" for number in range(1, len(taken) + 2))
        return next(name for name in names if name not in taken)


def _pattern(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _message(row: Sequence[Any]) -> SavedMessage:
    id, parent, role, content, ids, finish_reason, figures, created, covers = row
    return SavedMessage(
        id=id,
        parent=parent,
        role=role,
        content=content,
        ids=tuple(json.loads(ids)),
        finish_reason=finish_reason,
        figures=None if figures is None else Figures(**json.loads(figures)),
        created=created,
        covers=covers,
    )
