"""Lines that begin with a slash: one table feeds the completion, the palette and the help."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SystemCommand

from lookahead_cli.errors import UsageError

if TYPE_CHECKING:
    from lookahead_cli.tui.chat import ChatApp


@dataclass(frozen=True, slots=True)
class Command:
    """What a slash and a word do.

    Attributes:
        word: The word.
        does: In a few words.
        run: Does it, with what stands behind the word.
        takes: What stands behind the word, in square brackets where it may be missing; empty for nothing.
        key: A key that does the same, as it is displayed.
        values: What may stand behind the word, and what is said of each, after what was typed of it.
        waits: True where it must wait, with what stands behind the word, until nothing is loaded or answered.
    """

    word: str
    does: str
    run: Callable[[ChatApp, str], object]
    takes: str = ""
    key: str = ""
    values: Callable[[ChatApp, str], Mapping[str, str]] = lambda app, begun: {}
    waits: Callable[[ChatApp, str], bool] = lambda app, behind: False

    @property
    def usage(self) -> str:
        """The line as it is typed."""
        return f"/{self.word} {self.takes}".rstrip()

    @property
    def needs_more(self) -> bool:
        """True where the word alone says too little."""
        return bool(self.takes) and not self.takes.startswith("[")


@dataclass(frozen=True, slots=True)
class Offer:
    """A way to finish a line.

    Attributes:
        line: The line, finished.
        takes: What may stand behind it.
        says: What it does, empty where the line says it.
    """

    line: str
    takes: str = ""
    says: str = ""

    @property
    def usage(self) -> str:
        """The line with what may stand behind it."""
        return f"{self.line}{self.takes}".rstrip()


def is_command(text: str) -> bool:
    """True for a slash and a word; a path or a fraction is a question."""
    return re.fullmatch(r"/[a-z]+( .*)?", text) is not None


def command_of(commands: Sequence[Command], text: str) -> tuple[Command, str]:
    """What a line says, and what stands behind the word.

    Raises:
        UsageError: There is no such command, or it takes something else.
    """
    word, _, behind = text[1:].partition(" ")
    command = next((each for each in commands if each.word == word), None)
    if command is None:
        hint = nearest(word, [each.word for each in commands], "/") or "/help names them."
        raise UsageError(f"There is no command /{word}.", hint)
    behind = behind.strip()
    if behind and not command.takes:
        raise UsageError(f"/{word} takes nothing, and '{behind}' stands behind it.", f"Say /{word}.")
    if not behind and command.needs_more:
        raise UsageError(f"/{word} needs more.", f"Say {command.usage}.")
    return command, behind


def nearest(word: str, words: Sequence[str], sign: str = "") -> str:
    """A hint at the word that was meant, empty where none is near."""
    near = get_close_matches(word, words, n=1)
    return f"Did you mean {sign}{near[0]}?" if near else ""


def offers(commands: Sequence[Command], app: ChatApp, text: str) -> list[Offer]:
    """The ways to finish a line: a command while its word is typed, then what may stand behind it."""
    word, space, behind = text.removeprefix("/").partition(" ")
    if not text.startswith("/") or "\n" in text:
        return []
    if not space:
        found = [each for each in commands if each.word.startswith(word)]
        return [Offer(f"/{each.word} ", each.takes, each.does) for each in found]
    command = next((each for each in commands if each.word == word), None)
    values = {} if command is None else command.values(app, behind)
    return [
        Offer(f"/{word} {value}", says=says)
        for value, says in values.items()
        if value.startswith(behind) and value != behind
    ]


def explained(commands: Iterable[Command]) -> list[tuple[str, str]]:
    """How each command is typed, and what it does."""
    return [(each.usage, _with_key(each)) for each in commands]


def palette(commands: Iterable[Command], app: ChatApp) -> Iterator[SystemCommand]:
    """The commands for the palette; one that needs more is put into the line."""
    for command in commands:
        run = (
            partial(app.line.put, f"/{command.word} ")
            if command.needs_more
            else partial(app.command, f"/{command.word}")
        )
        yield SystemCommand(f"/{command.word}", _with_key(command), run)


def _with_key(command: Command) -> str:
    return f"{command.does} ({command.key})" if command.key else command.does
