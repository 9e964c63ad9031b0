"""What of a conversation is fed.

Room in the model's context is made by a message of the role `summary`. It stands for the first messages of
the conversation, which stay where they are and are no longer fed. With a text it is a summary that the model
wrote; it is fed as the model's own answer to the question for it, so that any chat template takes it. Without
one the messages are only left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from lookahead_cli.chat.prompts import Message
from lookahead_cli.chat.said import Said

SUMMARY_QUESTION = (
    "Summarise our conversation so far in a few sentences: what I asked, what you answered, and every name, "
    "number and decision that we may need later."
)


def covered(messages: Sequence[Said]) -> int:
    """How many messages, counted from the first, are no longer fed."""
    return next((said.covers for said in reversed(messages) if said.role == "summary"), 0)


def standing_summary(messages: Sequence[Said]) -> str:
    """The summary that is fed, empty for none; leaving out more messages leaves it where it is."""
    texts = (said.content for said in reversed(messages) if said.role == "summary" and said.content)
    return next(texts, "")


def fed_messages(system: str | None, messages: Sequence[Said]) -> list[Message]:
    """What the model sees: the system prompt, the summary, and what was not left out."""
    fed: list[Message] = [{"role": "system", "content": system}] if system else []
    summary = standing_summary(messages)
    if summary:
        fed += [
            {"role": "user", "content": SUMMARY_QUESTION},
            {"role": "assistant", "content": summary},
        ]
    said = (each for each in messages[covered(messages) :] if each.role != "summary")
    return fed + [{"role": each.role, "content": each.content} for each in said]
