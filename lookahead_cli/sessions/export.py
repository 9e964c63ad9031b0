"""Sessions as Markdown and as JSON."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lookahead_cli.errors import InputError
from lookahead_cli.sessions.records import SavedMessage, SessionInfo
from lookahead_cli.sessions.words import summary_words
from lookahead_cli.trace.words import counted

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)

_ENDINGS = {
    "cancelled": "; stopped",
    "cut": "; cut off",
    "failed": "; broken off",
    "length": "; cut by its length",
}


def as_json(info: SessionInfo, messages: Sequence[SavedMessage]) -> str:
    """One object: name, model, system prompt, and the messages with their ids and figures."""
    body: dict[str, Any] = {
        "type": "lookahead-session",
        "name": info.name,
        "model": info.model,
        "system": info.system,
        "created": _when(info.created),
        "messages": [
            {"role": message.role, "content": message.content, "created": _when(message.created)}
            | (_answer(message) if message.role == "assistant" else {})
            | ({"covers": message.covers} if message.role == "summary" else {})
            for message in messages
        ],
    }
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def as_markdown(info: SessionInfo, messages: Sequence[SavedMessage]) -> str:
    """A document: a heading a message, and under each answer how it was decoded.

    An answer that ends inside a block of code has the block closed, so that what follows is no code.
    """
    parts = [f"# {info.name}\n", f"{info.model}, {_when(info.created)}\n"]
    if info.system:
        parts.append(_quoted(info.system))
    for message in messages:
        if message.role == "summary":
            parts.append(_quoted(f"*{summary_words(message.content, message.covers)}*\n\n{message.content}"))
            continue
        parts.append(f"## {'You' if message.role == 'user' else info.model}\n")
        parts.append(_closed(message.content.strip("\n")) + "\n")
        if message.figures is not None:
            figures = message.figures
            said = f"{counted(figures.tokens, 'token')} in {counted(figures.steps, 'step')}"
            ratio = f", S {figures.tokens / figures.steps:.2f}" if figures.steps else ""
            parts.append(f"*{said}{ratio}{_ending(message)}*\n")
    return "\n".join(parts)


def write_export(info: SessionInfo, messages: Sequence[SavedMessage], file: Path) -> None:
    """Write a session as Markdown, or as JSON to a file that is named so.

    Raises:
        InputError: The file cannot be written.
    """
    write = as_json if file.suffix == ".json" else as_markdown
    try:
        file.write_text(write(info, messages), encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"'{file}' cannot be written ({error.strerror or error}).", "Choose another file."
        ) from error


def _quoted(text: str) -> str:
    return "".join(f"> {line}".rstrip() + "\n" for line in text.strip().splitlines())


def _answer(message: SavedMessage) -> dict[str, Any]:
    figures = message.figures
    return {
        "ids": list(message.ids),
        "finish_reason": message.finish_reason,
        "tokens": 0 if figures is None else figures.tokens,
        "steps": 0 if figures is None else figures.steps,
        "seconds": 0.0 if figures is None else figures.seconds,
    }


def _ending(message: SavedMessage) -> str:
    return _ENDINGS.get(message.finish_reason or "", "")


def _closed(text: str) -> str:
    """The text with its last block of code closed."""
    opened: str | None = None
    for fence in _FENCE.findall(text):
        if opened is None:
            opened = fence
        elif fence[0] == opened[0] and len(fence) >= len(opened):
            opened = None
    return text if opened is None else f"{text}\n{opened}"


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
