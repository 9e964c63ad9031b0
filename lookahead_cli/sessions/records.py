"""What a session holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["user", "assistant", "summary"]
"""Who said it; a `summary` stands for messages that are no longer fed, and is empty where nothing does."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session, as lists show it.

    Attributes:
        id: Its number, which never changes.
        name: What people call it; no two have one name.
        model: What `--model` said when it was last answered.
        system: The system prompt, None for none.
        created: Seconds since 1970.
        updated: The same of its last message.
        messages: On its branch, questions and answers.
    """

    id: int
    name: str
    model: str
    system: str | None
    created: float
    updated: float
    messages: int


@dataclass(frozen=True, slots=True)
class Figures:
    """How an answer was decoded.

    Attributes:
        tokens: Emitted tokens.
        steps: Decoding steps.
        seconds: Decode seconds.
        first_seconds: From the question to the first token.
        peak_bytes: Most memory of the process, or of the device.
    """

    tokens: int = 0
    steps: int = 0
    seconds: float = 0.0
    first_seconds: float = 0.0
    peak_bytes: int = 0


@dataclass(frozen=True, slots=True)
class SavedMessage:
    """A question, an answer, or what stands for messages that are no longer fed.

    Attributes:
        id: Its number.
        parent: The message before it, None for the first.
        role: Who said it.
        content: The text.
        ids: An answer's token ids; empty for a question.
        finish_reason: Why an answer ended; `cut` where the program was killed while it came.
        figures: How an answer was decoded; None for a question.
        created: Seconds since 1970.
        covers: How many messages of the branch, counted from its first, a summary stands for.
    """

    id: int
    parent: int | None
    role: Role
    content: str
    ids: tuple[int, ...]
    finish_reason: str | None
    figures: Figures | None
    created: float
    covers: int = 0
