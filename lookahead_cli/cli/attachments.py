"""Text files that go with a question."""

from __future__ import annotations

from pathlib import Path

from lookahead_cli.cli.prompts import read_prompt

_FENCE = "```"


def attachment(file: Path) -> str:
    """A file as text for a question, in a block with its name.

    Raises:
        InputError: It is missing, unreadable, empty, or no text.
    """
    text = read_prompt(str(file)).text.rstrip("\n")
    fence = _FENCE
    while fence in text:
        fence += "`"
    return f"{file.name}:\n{fence}{file.suffix.removeprefix('.')}\n{text}\n{fence}\n\n"
