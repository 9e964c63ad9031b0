"""Prompts of a conversation that go on from what was really fed and generated.

Encoding an answer's text again may give other ids than the model chose, and the KV cache would be of no use
from there on. So the ids of the last prompt and its answer are taken as they were, and only what the chat
template adds behind them is encoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookahead_cli.models.language_model import LanguageModel

Message = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Fed:
    """A prompt that was fed, and what came of it.

    Attributes:
        messages: The conversation up to the question.
        prompt_ids: As they were fed.
        output_ids: As they were emitted.
        text: The output's text, cut at a stop string.
    """

    messages: tuple[Message, ...]
    prompt_ids: tuple[int, ...]
    output_ids: tuple[int, ...]
    text: str


def prompt_ids_of(
    model: LanguageModel, messages: Sequence[Message], before: Fed | None = None
) -> tuple[int, ...]:
    """Token ids of a conversation up to where the answer begins.

    Args:
        model: Its tokenizer and chat template are used; without a template the messages are text with blank
            lines between them.
        messages: The conversation.
        before: An earlier turn, whose ids are taken where the conversation begins with it.

    Raises:
        InputError: A message holds half a character.
        ModelError: The chat template refuses these messages.
    """
    if before is not None:
        behind = _behind(model, messages, before)
        if behind is not None:
            return (*before.prompt_ids, *before.output_ids, *model.encode(behind, special_tokens=False))
    if not model.has_chat_template:
        return model.encode(completion_text(messages))
    return model.encode_chat(messages)


def completion_text(messages: Sequence[Message]) -> str:
    """A conversation for a model that knows no roles: an answer goes on where the text before it ends."""
    return "".join(
        message["content"] if message["role"] == "assistant" else f"\n\n{message['content']}"
        for message in messages
    ).removeprefix("\n\n")


def _behind(model: LanguageModel, messages: Sequence[Message], before: Fed) -> str | None:
    """The text behind the earlier answer; None where the conversation is no continuation of it."""
    count = len(before.messages)
    if tuple(messages[:count]) != before.messages or len(messages) < count + 2:
        return None
    if messages[count] != {"role": "assistant", "content": before.text}:
        return None
    if model.text(before.output_ids) != before.text:
        return None  # It was cut at a stop string: its last token says more than the text.
    beginning = _rendered(model, messages[:count]) + before.text
    whole = _rendered(model, messages)
    if not whole.startswith(beginning):
        return None
    behind = whole.removeprefix(beginning)
    last = before.output_ids[-1] if before.output_ids else None
    if last in model.eos_ids and last is not None:
        end = model.token_text(last).text
        if not behind.startswith(end):
            return None
        behind = behind.removeprefix(end)
    return behind


def _rendered(model: LanguageModel, messages: Sequence[Message]) -> str:
    if not model.has_chat_template:
        return completion_text(messages)
    text: Any = model.tokenizer.apply_chat_template(
        [dict(message) for message in messages], add_generation_prompt=True, tokenize=False
    )
    return str(text)
