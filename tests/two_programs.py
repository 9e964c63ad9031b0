"""Two real programs on one data folder: they talk at once, are killed, and go on."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from lookahead_cli.sessions.records import SavedMessage
from lookahead_cli.sessions.store import SessionStore
from tests.programs import Program

NAMES = ("first", "second")
_FLAGS = ("--dtype", "float32", "--jsonl", "--max-new-tokens", "24")


@dataclass(frozen=True, slots=True)
class Talker:
    """A program that answers one question of a session.

    Attributes:
        session: The session's name.
        question: What it was asked.
        program: It runs.
    """

    session: str
    question: str
    program: Program

    @property
    def said(self) -> list[int]:
        """Token ids that it wrote to standard output."""
        return [token for line in self.program.lines if line["type"] == "step" for token in line["ids"]]


def start(folder: Path, model: str, session: str, question: str, name: str) -> Talker:
    """Ask a question in a session.

    Args:
        folder: Has the data folder, and gets the output.
        model: What `--model` says.
        session: The session's name.
        question: The question.
        name: Of the output's file.
    """
    arguments = ["chat", "--session", session, "--model", model, *_FLAGS, "--prompt", question]
    environment = {"LOOKAHEAD_DATA": str(folder / "data"), "LOOKAHEAD_CONFIG": "/nonexistent"}
    return Talker(session, question, Program(arguments, environment, folder / f"{name}.jsonl"))


def sessions_in(folder: Path) -> dict[str, list[SavedMessage]]:
    """Every session with its messages, of a file that SQLite finds whole.

    Raises:
        AssertionError: It is damaged.
    """
    store = SessionStore(folder)
    try:
        assert store.database.read("PRAGMA integrity_check") == [("ok",)]
        assert store.database.read("PRAGMA foreign_key_check") == []
        return {info.name: store.messages(info.id) for info in store.sessions()}
    finally:
        store.close()


def talk(folder: Path, model: str, rounds: int, moments: random.Random) -> list[Talker]:
    """Let two programs talk at once, each in its session; in every second round one of them is killed.

    Args:
        folder: Empty.
        model: What `--model` says.
        rounds: Questions of each.
        moments: Chooses who is killed, and after how many steps.

    Returns:
        All of them, first to last; none runs any more.
    """
    talkers = []
    for number in range(rounds):
        pair = [start(folder, model, name, f"{name} asks {number}.", f"{name}-{number}") for name in NAMES]
        if number % 2:
            victim = moments.choice(pair)
            victim.program.wait_for_lines(moments.randint(1, 8))
            victim.program.kill()
            pair.remove(victim)
            talkers.append(victim)
        for talker in pair:
            assert talker.program.exit_code() == 0, talker.program.errors
            talkers.append(talker)
    return talkers
