"""What the chat screen keeps between two runs of the program: questions that were sent, and the panels shown.

It is comfort and nothing more: what cannot be read or written is done without.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_MOST_QUESTIONS = 1000


class Kept:
    """Two small files in the data folder.

    Args:
        folder: The data folder; None keeps nothing.
        questions: False for a conversation that is not to be kept: its questions are not either.
    """

    def __init__(self, folder: Path | None, *, questions: bool = True) -> None:
        self._panels = None if folder is None else folder / "panels.json"
        self._questions = None if folder is None or not questions else folder / "questions.jsonl"

    def questions(self) -> list[str]:
        """What was sent, the newest last."""
        if self._questions is None:
            return []
        return [text for text in map(_parsed, _lines(self._questions)) if isinstance(text, str)]

    def add_question(self, text: str) -> None:
        """Keep a question; the oldest make way."""
        if self._questions is None:
            return
        lines = _lines(self._questions)
        with suppress(OSError):
            self._questions.parent.mkdir(parents=True, exist_ok=True)
            new = json.dumps(text, ensure_ascii=False)
            if len(lines) >= 2 * _MOST_QUESTIONS:
                _write(self._questions, "".join(f"{line}\n" for line in [*lines[1 - _MOST_QUESTIONS :], new]))
                return
            # Appended, so that two programs lose nothing of each other's.
            with self._questions.open("a", encoding="utf-8") as file:
                file.write(f"{new}\n")

    def panels(self) -> Mapping[str, bool]:
        """Which panels were asked for or hidden, by id."""
        if self._panels is None:
            return {}
        body = _parsed("".join(_lines(self._panels)))
        return {name: bool(shown) for name, shown in body.items()} if isinstance(body, dict) else {}

    def keep_panels(self, panels: Mapping[str, bool]) -> None:
        """Remember which panels are asked for or hidden."""
        if self._panels is not None:
            with suppress(OSError):
                self._panels.parent.mkdir(parents=True, exist_ok=True)
                _write(self._panels, json.dumps(dict(panels)))


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _write(file: Path, text: str) -> None:
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None
