"""Prompts: reading them from a file or standard input, and turning them into token ids."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from lookahead_cli.cli.console import note
from lookahead_cli.errors import InputError, UsageError

STANDARD_INPUT = "-"
MOST_BYTES = 16_000_000
_PLAIN_TEXT = frozenset({"", ".txt", ".md", ".text", ".rst"})

PromptStyle = Literal["auto", "chat", "raw"]


class Encoder(Protocol):
    """What encoding a prompt needs from a model."""

    @property
    def name(self) -> str:
        """Name for people."""

    @property
    def has_chat_template(self) -> bool:
        """True when the tokenizer can lay out a conversation."""

    def encode(self, text: str, *, special_tokens: bool = True) -> tuple[int, ...]:
        """Token ids of a text."""

    def encode_chat(self, messages: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
        """Token ids of a conversation."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and where it came from.

    Attributes:
        name: File name, or `-` for standard input.
        text: The text, unchanged but for a byte-order mark.
        is_source_code: True for a file that is no plain text by its name, such as `.py`.
        messages: A whole conversation, which `text` only ends; empty for a prompt that is one text.
    """

    name: str
    text: str
    is_source_code: bool = False
    messages: tuple[Mapping[str, str], ...] = ()


def read_prompt(file: str) -> Prompt:
    """Read a prompt.

    Args:
        file: A path, or `-` for standard input.

    Raises:
        InputError: It is missing, a folder, unreadable, empty, binary, or far longer than any context.
    """
    if file == STANDARD_INPUT:
        return Prompt(file, read_standard_input("prompt"))
    if not file:
        raise InputError("The prompt has no file name.", "Name a text file, or - for standard input.")
    path = Path(file)
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise InputError(
            f"There is no file '{file}'.", "Check the path, or give - to read standard input."
        ) from None
    except IsADirectoryError:
        raise InputError(f"'{file}' is a folder.", "Name one text file in it.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"'{file}' cannot be read ({reason}).", "Check its permissions.") from error
    return Prompt(path.name, _as_text(data, f"'{file}'"), path.suffix.lower() not in _PLAIN_TEXT)


def read_standard_input(what: str) -> str:
    """The text on standard input, to its end; a person at a terminal is told how to end it.

    Args:
        what: What is read, for that person.

    Raises:
        InputError: It is empty, binary, or far longer than any context.
    """
    if sys.stdin.isatty():
        end = "Ctrl+Z and Enter" if sys.platform == "win32" else "Ctrl+D"
        note(f"Type the {what}; {end} on a line of its own ends it.")
    return _as_text(sys.stdin.buffer.read(MOST_BYTES + 1), "Standard input", f"Pipe a {what} into it.")


def encode(model: Encoder, prompt: Prompt, style: PromptStyle) -> tuple[int, ...]:
    """Token ids of a prompt.

    Args:
        model: The model whose tokenizer and chat template are used.
        prompt: The prompt.
        style: `chat` sends it as a person's message through the chat template; `raw` feeds it as it is,
            special tokens in it parsed; `auto` is `chat` for text where the model has a template, and else
            goes on from the end of the prompt's last line.

    Raises:
        UsageError: `chat` was asked of a model without a chat template, or `raw` of a conversation.
    """
    if prompt.messages:
        if style == "raw":
            raise UsageError(f"{prompt.name} is a conversation, which has no raw text.", "Leave out --raw.")
        return model.encode_chat(prompt.messages)
    if style == "auto" and (prompt.is_source_code or not model.has_chat_template):
        # Tokenizers join a newline with the indent that follows: one at the end leads the model astray.
        return model.encode(prompt.text.rstrip("\r\n"))
    if style == "raw":
        return model.encode(prompt.text)
    if not model.has_chat_template:
        raise UsageError(f"{model.name} has no chat template.", "Use --raw to feed the text as it is.")
    return model.encode_chat([{"role": "user", "content": prompt.text.strip()}])


def _as_text(data: bytes, subject: str, if_empty: str = "Put some text into it.") -> str:
    """The bytes as text; `subject` names them in a refusal, `if_empty` says what to do then."""
    if len(data) > MOST_BYTES:
        raise InputError(
            f"{subject} is longer than {MOST_BYTES // 1_000_000} MB, more than any model's context.",
            "Give a shorter prompt.",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InputError(
            f"{subject} is not text in UTF-8.", "Give a text file, or convert it to UTF-8 first."
        )
    if not text.strip():
        raise InputError(f"{subject} is empty.", if_empty)
    return text
