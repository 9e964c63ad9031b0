"""Decoding from Python: steps one by one, or a whole text."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, overload

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.records import Step
from lookahead_cli.errors import InputError, UsageError
from lookahead_cli.trace.events import Footer, StepEvent

if TYPE_CHECKING:
    from lookahead_cli.decoding.pool import NGramPool
    from lookahead_cli.models.language_model import LanguageModel

_A_PROMPT = "Give a text, token ids, or messages with a role and a content."
Prompt = str | Sequence[int] | Sequence[Mapping[str, str]]
"""A text, token ids (a tensor of (L,) or (1, L) too), or a conversation of {"role": …, "content": …}."""


def decode(
    model: LanguageModel,
    prompt: Prompt,
    config: LookaheadConfig | None = None,
    *,
    pool: NGramPool | None = None,
    draft: LanguageModel | None = None,
    cancel: threading.Event | None = None,
) -> Iterator[Step]:
    """Decode a prompt, one step at a time.

    Args:
        model: From `load_model`; one decode at a time runs on it.
        prompt: A text, token ids, or a conversation, which goes through the model's chat template.
        config: Settings, None for the defaults: (15, 5, 15), greedy choices.
        pool: N-grams to begin with; it is used and added to.
        draft: The draft model, for method `draft`.
        cancel: Set from another thread to stop within one step.

    Yields:
        One frozen record a step. Closing the generator early leaves the model ready for the next decode.

    Raises:
        UsageError: The settings are no `LookaheadConfig`, or another run holds the model.
        InputError: The prompt is no prompt, is empty, or leaves no room in the context.
        ModelError: There is no chat template for a conversation, or the draft model has another vocabulary.
    """
    settings = _checked(model, config, pool, draft)
    run = model.run(_ids_of(model, prompt), settings, pool=pool, draft=draft, cancel=cancel)
    for event in run:
        if isinstance(event, StepEvent):
            yield event.step


@overload
def generate(
    model: LanguageModel,
    prompt: Prompt,
    config: LookaheadConfig | None = None,
    *,
    output: Literal["text"] = "text",
    pool: NGramPool | None = None,
    draft: LanguageModel | None = None,
    on_step: Callable[[Step], object] | None = None,
) -> str: ...


@overload
def generate(
    model: LanguageModel,
    prompt: Prompt,
    config: LookaheadConfig | None = None,
    *,
    output: Literal["ids"],
    pool: NGramPool | None = None,
    draft: LanguageModel | None = None,
    on_step: Callable[[Step], object] | None = None,
) -> tuple[int, ...]: ...


def generate(
    model: LanguageModel,
    prompt: Prompt,
    config: LookaheadConfig | None = None,
    *,
    output: Literal["text", "ids"] = "text",
    pool: NGramPool | None = None,
    draft: LanguageModel | None = None,
    on_step: Callable[[Step], object] | None = None,
) -> str | tuple[int, ...]:
    """Decode a prompt to its end.

    Args:
        model: From `load_model`.
        prompt: A text, token ids, or a conversation.
        config: Settings, None for the defaults.
        output: `text`, without special tokens and cut at a stop string, or `ids`.
        pool: N-grams to begin with; it is used and added to.
        draft: The draft model, for method `draft`.
        on_step: Called with each step's record.

    Returns:
        What follows the prompt.

    Raises:
        UsageError: The settings are no `LookaheadConfig`, or another run holds the model.
        InputError: The prompt is no prompt, is empty, or leaves no room in the context.
        ModelError: There is no chat template for a conversation, or the draft model has another vocabulary.
    """
    if output not in ("text", "ids"):
        raise UsageError(f"There is no output called {output!r}.", "Choose 'text' or 'ids'.")
    settings = _checked(model, config, pool, draft)
    footer: Footer | None = None
    for event in model.run(_ids_of(model, prompt), settings, pool=pool, draft=draft):
        if isinstance(event, StepEvent) and on_step is not None:
            on_step(event.step)
        elif isinstance(event, Footer):
            footer = event
    assert footer is not None, "a run ends with its footer"
    return footer.text if output == "text" else footer.output_ids


def _checked(
    model: LanguageModel, config: LookaheadConfig | None, pool: NGramPool | None, draft: LanguageModel | None
) -> LookaheadConfig:
    """The settings; what a caller mixes up is refused by name."""
    from lookahead_cli.decoding.pool import NGramPool
    from lookahead_cli.models.language_model import LanguageModel

    config = LookaheadConfig() if config is None else config
    if not isinstance(config, LookaheadConfig):
        raise UsageError(f"Settings cannot be {type(config).__name__}.", "Give a LookaheadConfig(…).")
    for name, given in (("A model", model), ("A draft model", draft)):
        if given is not None and not isinstance(given, LanguageModel):
            raise UsageError(f"{name} cannot be {type(given).__name__}.", "Give what load_model returned.")
    if pool is not None and not isinstance(pool, NGramPool):
        raise UsageError(f"A pool cannot be {type(pool).__name__}.", "Give an NGramPool(N, G).")
    if draft is not None and config.method != "draft":
        raise UsageError("draft= has nothing to do here.", "Give method='draft' with it.")
    if pool is not None and (config.method != "lookahead" or config.guess_set_size == 0):
        said = f"The method '{config.method}'" if config.guess_set_size else "G = 0"
        raise UsageError(f"{said} takes no guesses from an n-gram pool.", "Leave out pool=.")
    return config


def _ids_of(model: LanguageModel, prompt: Prompt) -> tuple[int, ...]:
    if isinstance(prompt, str):
        return model.encode(prompt)
    listed: Any = prompt.tolist() if hasattr(prompt, "tolist") else prompt
    if isinstance(listed, Sequence) and len(listed) == 1 and isinstance(listed[0], list):
        listed = listed[0]
    if isinstance(listed, bytes | bytearray) or not isinstance(listed, Sequence):
        raise InputError(f"A prompt cannot be {type(prompt).__name__}.", _A_PROMPT)
    if listed and all(isinstance(message, Mapping) for message in listed):
        return model.encode_chat([dict(message) for message in listed])
    for token in listed:
        if isinstance(token, bool) or not isinstance(token, Integral):
            raise InputError(f"{token!r} in the prompt is no token id.", _A_PROMPT)
    return tuple(int(token) for token in listed)
