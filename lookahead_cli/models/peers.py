"""The loops of transformers itself on a loaded model, to measure against.

They run on the same weights in the same process: transformers' own `generate`, its own KV cache, and the
attention that it would choose by itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch

from lookahead_cli.models.language_model import LanguageModel
from lookahead_cli.models.memory import available_memory
from lookahead_cli.models.packed import PackedLinear
from lookahead_cli.models.stock import stock

PeerMethod = Literal["transformers-greedy", "transformers-prompt-lookup"]
PEERS: tuple[PeerMethod, ...] = ("transformers-greedy", "transformers-prompt-lookup")
LOOKUP_TOKENS = 10
"""Tokens that `transformers-prompt-lookup` guesses in a step, as its documentation's examples have it."""


@dataclass(frozen=True, slots=True)
class PeerRun:
    """One prompt decoded by transformers.

    Attributes:
        output_ids: Emitted ids.
        first_tokens: Of these, those of the first pass, which also reads the prompt.
        first_seconds: Seconds from the call to the first emitted token.
        seconds: Seconds from there to the return.
        nodes: Tokens fed in each pass, the prompt before its last token left out.
    """

    output_ids: tuple[int, ...]
    first_tokens: int
    first_seconds: float
    seconds: float
    nodes: tuple[int, ...]


def memory_lacking(model: LanguageModel) -> int:
    """Bytes that are missing for a run, beside what is held now; 0 where there is room.

    A run holds the packed weights in their usual order as well.

    Args:
        model: The model.
    """
    raw = model.runner.model
    packed = (layer for layer in raw.modules() if isinstance(layer, PackedLinear))
    weights = sum(layer.in_features * layer.out_features for layer in packed)
    needed: int = weights * raw.dtype.itemsize
    return max(0, needed - available_memory(model.runner.device))


@contextmanager
def _no_declared_settings(model: Any) -> Iterator[None]:
    """Penalties that a checkpoint declares are none of the comparison: each run names all that it wants."""
    from transformers import GenerationConfig

    declared = model.generation_config
    model.generation_config = GenerationConfig()
    try:
        yield
    finally:
        model.generation_config = declared


def run_peer(
    model: LanguageModel, method: PeerMethod, prompt_ids: Sequence[int], max_new_tokens: int
) -> PeerRun:
    """Decode a prompt with transformers' own `generate`, greedily.

    Args:
        model: The model; its own KV cache is left alone.
        method: Which of the loops.
        prompt_ids: The prompt.
        max_new_tokens: Most tokens emitted; fewer where the context ends.
    """
    device = model.runner.device
    room = None if model.context_length is None else model.context_length - len(prompt_ids)
    inputs = torch.tensor([list(prompt_ids)], device=device)
    ends = sorted(model.eos_ids)
    settings: dict[str, Any] = {
        "do_sample": False,
        "num_beams": 1,
        "max_new_tokens": max_new_tokens if room is None else min(max_new_tokens, room),
        "eos_token_id": ends or None,
        "pad_token_id": ends[0] if ends else 0,
    }
    if method == "transformers-prompt-lookup":
        settings["prompt_lookup_num_tokens"] = LOOKUP_TOKENS
    raw = model.runner.model
    watch = _Watch()
    passes: list[int] = []
    hook = raw.register_forward_pre_hook(_counter(passes), with_kwargs=True)
    try:
        with stock(raw), _no_declared_settings(raw):
            started = time.perf_counter()
            output = raw.generate(inputs, attention_mask=torch.ones_like(inputs), streamer=watch, **settings)
            ids = output[0, len(prompt_ids) :].tolist()
            ended = time.perf_counter()
    finally:
        hook.remove()
    assert watch.first_at is not None, "a run emits at least one token"
    return PeerRun(
        output_ids=tuple(ids),
        first_tokens=watch.first_tokens,
        first_seconds=watch.first_at - started,
        seconds=ended - watch.first_at,
        nodes=(passes[0] - len(prompt_ids) + 1, *passes[1:]),
    )


class _Watch:
    """A streamer that looks at the clock when the first token comes; the prompt comes before it."""

    def __init__(self) -> None:
        self.first_at: float | None = None
        self.first_tokens = 0
        self._prompt_seen = False

    def put(self, value: torch.Tensor) -> None:
        if self._prompt_seen and self.first_at is None:
            self.first_at = time.perf_counter()
            self.first_tokens = value.numel()
        self._prompt_seen = True

    def end(self) -> None:
        """Nothing is left to show."""


def _counter(passes: list[int]) -> Callable[[Any, tuple[Any, ...], dict[str, Any]], None]:
    def count(_: Any, positional: tuple[Any, ...], named: dict[str, Any]) -> None:
        fed = named["input_ids"] if "input_ids" in named else positional[0]
        passes.append(fed.shape[1])

    return count
