"""Copying an answer: to the terminal's clipboard, which works over a connection too, and to the system's."""

from __future__ import annotations

import re
from contextlib import suppress

import pyperclip
from textual.app import App

from lookahead_cli.errors import UsageError
from lookahead_cli.trace.words import counted

_BLOCK = re.compile(
    r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)


def code_blocks(markdown: str) -> list[str]:
    """The contents of the blocks of code, the last one even where its end is missing."""
    return [match[2] for match in _BLOCK.finditer(markdown)]


def part_to_copy(answer: str | None, what: str) -> tuple[str, str]:
    """What a person asked to copy of an answer: all of it, `code`, or one block such as `code 2`.

    Args:
        answer: The answer, None where nothing was answered yet.
        what: What was asked for, empty for all of it.

    Returns:
        The text, and its name.

    Raises:
        UsageError: The answer has no such part.
    """
    word, _, number = what.partition(" ")
    if word not in ("", "code") or (number and not number.isdecimal()):
        raise UsageError(f"/copy cannot copy '{what}'.", "Say /copy, /copy code or /copy code 2.")
    if answer is None:
        raise UsageError("There is nothing to copy yet.", "Ask something first.")
    if not word:
        return answer, "the last answer"
    blocks = code_blocks(answer)
    if not blocks:
        raise UsageError("The last answer has no block of code.", "/copy copies all of it.")
    if not number:
        return "\n".join(blocks), f"{counted(len(blocks), 'block')} of code"
    if not 1 <= int(number) <= len(blocks):
        raise UsageError(
            f"The last answer has {counted(len(blocks), 'block')} of code, and no number {number}.",
            f"Say a number from 1 to {len(blocks)}.",
        )
    return blocks[int(number) - 1], f"block of code {number}"


def copy(app: App[None], text: str) -> None:
    """Copy a text; a machine without a clipboard of its own leaves it to the terminal."""
    app.copy_to_clipboard(text)
    with suppress(pyperclip.PyperclipException):
        pyperclip.copy(text)
