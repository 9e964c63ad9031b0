"""The SQLite file of the sessions: opened by several programs at once, changed all or nothing."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lookahead_cli.errors import InputError

_VERSION = 2
_PATIENCE_SECONDS = 20.0
_SCHEMA = """
CREATE TABLE session (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, model TEXT NOT NULL, system TEXT,
    created REAL NOT NULL, updated REAL NOT NULL, head INTEGER
);
CREATE TABLE message (
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    parent INTEGER REFERENCES message, role TEXT NOT NULL, content TEXT NOT NULL, ids TEXT NOT NULL,
    finish_reason TEXT, figures TEXT, created REAL NOT NULL, covers INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX message_of_session ON message (session);
CREATE TABLE trace (
    message INTEGER NOT NULL REFERENCES message ON DELETE CASCADE, number INTEGER NOT NULL,
    line BLOB NOT NULL,
    PRIMARY KEY (message, number)
) WITHOUT ROWID;
"""


class Database:
    """The file; safe to use from several threads and programs at once.

    Messages are a tree: each names the one before it, and a session names the last one of its branch.

    Args:
        path: The file; made, with its folder, where it is missing.

    Raises:
        InputError: It cannot be opened, or was written by a newer version.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA foreign_keys = ON")
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._prepare(path)
        except (OSError, sqlite3.Error) as error:
            raise InputError(
                f"The sessions in '{path}' cannot be opened: {error}.",
                "Give another folder in the environment variable LOOKAHEAD_DATA.",
            ) from error

    def _prepare(self, path: Path) -> None:
        with self.changing() as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version == 0:
                for statement in _SCHEMA.split(";"):
                    connection.execute(statement)
            elif version == 1:
                connection.execute("ALTER TABLE message ADD COLUMN covers INTEGER NOT NULL DEFAULT 0")
            elif version > _VERSION:
                raise InputError(f"'{path}' was written by a newer version.", "Update lookahead.")
            connection.execute(f"PRAGMA user_version = {_VERSION}")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """One change, all of it or nothing.

        Raises:
            InputError: The file cannot be written, such as on a full disk.
        """
        with self._lock, _told("written"):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def read(self, query: str, values: Any = ()) -> list[Any]:
        """The rows of a query.

        Raises:
            InputError: The file cannot be read.
        """
        with self._lock, _told("read"):
            return self._connection.execute(query, values).fetchall()


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
