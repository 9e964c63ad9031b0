"""Lines that begin with a slash: what a person may do in a chat besides asking."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from lookahead_cli.errors import UsageError

if TYPE_CHECKING:
    from lookahead_cli.tui.chat import ChatApp

_BLOCK = re.compile(
    r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Command:
    """What a slash and a word do.

    Attributes:
        word: The word.
        does: In a few words.
        run: Does it, with what stands behind the word.
        takes: What stands behind the word, empty for nothing.
    """

    word: str
    does: str
    run: Callable[[ChatApp, str], object]
    takes: str = ""


def _help(app: ChatApp, _: str) -> None:
    width = max(len(f"/{command.word} {command.takes}") for command in COMMANDS)
    app.tell("\n".join(f"{f'/{each.word} {each.takes}':<{width}}  {each.does}" for each in COMMANDS))


def _save(app: ChatApp, name: str) -> None:
    app.tell(f"The session is called '{app.talk.rename(name)}'.")


def _export(app: ChatApp, name: str) -> None:
    file = Path(name or "conversation.md").expanduser()
    app.talk.export(file)
    app.tell(f"The conversation is in '{file}'.")


def _copy(app: ChatApp, what: str) -> None:
    if what not in ("", "code"):
        raise UsageError(f"/copy cannot copy '{what}'.", "Say /copy or /copy code.")
    app.action_copy(what or "answer")


COMMANDS = (
    Command("help", "these commands", _help),
    Command("retry", "answer the last question again (ctrl+r)", lambda app, _: app.action_retry()),
    Command("continue", "go on with a cut answer (ctrl+g)", lambda app, _: app.action_go_on()),
    Command("undo", "take the last turn back, to ask otherwise (ctrl+t)", lambda app, _: app.action_undo()),
    Command("copy", "the last answer, or its blocks of code (ctrl+o)", _copy, "[code]"),
    Command("tokens", "the answers' tokens, a colour a step (F3)", lambda app, _: app.action_raw()),
    Command("panels", "show or hide the decoding panels (F2)", lambda app, _: app.action_panels()),
    Command("stats", "tokens and S of all answers", lambda app, _: app.tell(app.stats())),
    Command("save", "give the session a name", _save, "NAME"),
    Command("export", "write it as Markdown, or JSON for *.json", _export, "[FILE]"),
    Command("quit", "leave (ctrl+q)", lambda app, _: app.action_leave()),
)


def is_command(text: str) -> bool:
    """True for a slash and a word; a path or a fraction is a question."""
    return re.fullmatch(r"/[a-z]+( .*)?", text) is not None


def run_command(app: ChatApp, text: str) -> None:
    """Do what a line says.

    Raises:
        LookaheadError: There is no such command, or it cannot be done.
    """
    word, _, behind = text[1:].partition(" ")
    command = next((each for each in COMMANDS if each.word == word), None)
    if command is None:
        nearest = get_close_matches(word, [each.word for each in COMMANDS], n=1)
        hint = f"Did you mean /{nearest[0]}?" if nearest else "/help names them."
        raise UsageError(f"There is no command /{word}.", hint)
    command.run(app, behind.strip())


def completions(text: str) -> list[str]:
    """The commands that a line may become."""
    return [f"/{each.word}" for each in COMMANDS if text.startswith("/") and f"/{each.word}".startswith(text)]


def code_blocks(markdown: str) -> list[str]:
    """The contents of the blocks of code, the last one even where its end is missing."""
    return [match[2] for match in _BLOCK.finditer(markdown)]
