"""Messages of a conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from lookahead_cli.sessions.records import Figures, Role

if TYPE_CHECKING:
    from lookahead_cli.sessions.records import SavedMessage

UNFINISHED = frozenset({"length", "context", "cancelled", "failed", "cut"})
"""Ends of an answer after which it can be gone on with."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a conversation.

    Attributes:
        role: Who said it.
        content: The text.
        finish_reason: Why an answer ended.
        figures: How an answer was decoded.
        id: Its number in the session, None where nothing is kept.
        covers: How many messages, counted from the first, a summary stands for.
    """

    role: Role
    content: str
    finish_reason: str | None = None
    figures: Figures | None = None
    id: int | None = None
    covers: int = 0

    @classmethod
    def of(cls, message: SavedMessage) -> Self:
        """The message of a session."""
        return cls(
            message.role, message.content, message.finish_reason, message.figures, message.id, message.covers
        )
