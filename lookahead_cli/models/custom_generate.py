"""Lookahead decoding inside transformers: `model.generate(**inputs, custom_generate=lookahead_generate)`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from weakref import WeakSet

import torch

from lookahead_cli.decoding.config import LookaheadConfig, Method, Source
from lookahead_cli.decoding.loop import decode
from lookahead_cli.decoding.proposers import make_proposer, rules_of
from lookahead_cli.decoding.records import Step
from lookahead_cli.decoding.sampling import Sampler, SeededUniforms
from lookahead_cli.decoding.stopping import Stopping
from lookahead_cli.errors import UnsupportedModelError
from lookahead_cli.models import attention as tree_attention
from lookahead_cli.models.loading import context_length_of
from lookahead_cli.models.probe import check_tree_attention, needs_trial
from lookahead_cli.models.rope import length_dependent_rope
from lookahead_cli.models.runner import TransformersRunner
from lookahead_cli.models.support import check_supported

_ATTENTION = frozenset({"eager", "sdpa", tree_attention.NAME})
# What `generate` hands to any loop; of the rest this loop would not know what the model makes of it.
_KNOWN_INPUTS = frozenset(
    {
        "attention_mask", "position_ids", "logits_to_keep", "cache", "past_key_values", "cache_position",
        "use_cache", "inputs_embeds", "output_attentions", "output_hidden_states", "return_dict",
    }
)  # fmt: skip
_STATEFUL_PROCESSORS = frozenset(
    {"UnbatchedClassifierFreeGuidanceLogitsProcessor", "SynthIDTextWatermarkLogitsProcessor"}
)

_tried: WeakSet[Any] = WeakSet()


@torch.no_grad()
def lookahead_generate(
    model: Any,
    input_ids: torch.Tensor,
    logits_processor: Any = None,
    stopping_criteria: Any = None,
    generation_config: Any = None,
    window_size: int = 15,
    ngram_size: int = 5,
    guess_set_size: int = 15,
    method: Method = "lookahead",
    sources: Sequence[Source] = ("window", "prompt"),
    node_budget: int = 32,
    on_step: Callable[[Step], object] | None = None,
    **model_kwargs: Any,
) -> Any:
    """What `generate` calls instead of its own loop; the ids are those of its own greedy loop.

    Logits processors, stopping criteria and the generation config are those that `generate` prepared. With
    `do_sample=True` tokens are drawn with transformers' own processors from torch's random state.

    Args:
        model: The model; any that can be decoded with a token tree, with eager or sdpa attention.
        input_ids: (1, L) prompt.
        logits_processor: Applied to every distribution, with the path walked so far.
        stopping_criteria: Asked after every token.
        generation_config: For `do_sample` and `return_dict_in_generate`.
        window_size: W.
        ngram_size: N.
        guess_set_size: G.
        method: As in `LookaheadConfig`, without `draft`.
        sources: As in `LookaheadConfig`.
        node_budget: As in `LookaheadConfig`.
        on_step: Called with each step's record.
        model_kwargs: What `generate` prepared for its own loop; a cache with entries, and embeddings, are
            refused.

    A processor must be a function of the ids and the scores alone: it is also asked about guesses, which
    never enter the text. Those of transformers that count their calls are refused.

    Returns:
        (1, L + new) ids, or transformers' output record with them where the config asks for one.

    Raises:
        ValueError: More than one sequence, method `draft`, inputs that are not token ids, a prompt that
            leaves no room in the context, other inputs for the model, a processor that keeps state, or
            outputs besides the sequences.
        UnsupportedModelError: The model cannot be decoded exactly with a token tree.
    """
    if method == "draft":
        raise ValueError("lookahead_generate takes no draft model; choose another method.")
    prompt = _check_inputs(model, input_ids, model_kwargs)
    _check_outputs(generation_config)
    _check_processors(logits_processor or ())
    config = LookaheadConfig(
        method=method,
        window_size=window_size,
        ngram_size=ngram_size,
        guess_set_size=guess_set_size,
        sources=tuple(sources),
        node_budget=node_budget,
    )
    uniforms = None
    if generation_config is not None and generation_config.do_sample:
        uniforms = SeededUniforms(int(torch.randint(1 << 62, ())))
    # `generate` prepared its processors for the padded input.
    padding_ids = tuple(input_ids[0, : input_ids.shape[1] - len(prompt)].tolist())
    sampler = Sampler(logits_processor or None, uniforms, padding_ids)
    runner = TransformersRunner(model, _context_length(model, len(prompt)))
    runner.prefill(prompt[:-1])
    text = _GrowingText(input_ids)

    def ends_after(token: int) -> bool:
        text.append(token)
        return bool(stopping_criteria(text.ids, None).all()) if stopping_criteria else False

    # The criteria hold the length that was asked for.
    stopping = Stopping(1 << 62, context_length=runner.context_length, ends_after=ends_after)
    proposer = make_proposer(config, prompt)
    for step in decode(runner, prompt[-1], proposer, stopping, sampler, rules=rules_of(config)):
        if on_step is not None:
            on_step(step)
        if step.finish_reason == "context":
            warnings.warn(f"The model's context of {runner.context_length} tokens is full.", stacklevel=2)
    if generation_config is not None and generation_config.return_dict_in_generate:
        from transformers.generation import GenerateDecoderOnlyOutput

        return GenerateDecoderOnlyOutput(sequences=text.ids)
    return text.ids


class _GrowingText:
    """The ids so far, (1, L), as stopping criteria take them."""

    def __init__(self, ids: torch.Tensor) -> None:
        self.ids = ids

    def append(self, token: int) -> None:
        self.ids = torch.cat([self.ids, self.ids.new_tensor([[token]])], dim=-1)


def _context_length(model: Any, prompt_tokens: int) -> int | None:
    length = context_length_of(model.config)
    if length is not None and prompt_tokens >= length:
        raise ValueError(
            f"The prompt has {prompt_tokens} tokens and the model's context holds {length}, "
            "the answer included."
        )
    return length


def _check_outputs(generation_config: Any) -> None:
    if generation_config is None or not generation_config.return_dict_in_generate:
        return
    for name in ("output_scores", "output_logits", "output_attentions", "output_hidden_states"):
        if getattr(generation_config, name, None):
            raise ValueError(f"lookahead_generate returns the sequences alone; leave out {name}.")


def _check_processors(processors: Iterable[Any]) -> None:
    for processor in processors:
        if type(processor).__name__ in _STATEFUL_PROCESSORS:
            raise ValueError(
                f"{type(processor).__name__} keeps state from token to token, "
                "so it cannot be asked about guesses; leave it out."
            )


def _try_once(model: Any) -> None:
    # Dropout would tell any two passes apart; nothing is exact while training.
    if model not in _tried and not model.training:
        if needs_trial(model.config):
            check_tree_attention(model, type(model).__name__)
        _tried.add(model)


def _check_inputs(model: Any, input_ids: torch.Tensor, model_kwargs: dict[str, Any]) -> list[int]:
    if input_ids.shape[0] != 1:
        raise ValueError(f"lookahead_generate decodes one sequence at a time, and got {input_ids.shape[0]}.")
    if model_kwargs.get("inputs_embeds") is not None:
        raise ValueError("lookahead_generate takes input_ids; leave out inputs_embeds.")
    if input_ids.shape[1] == 0:
        raise ValueError("lookahead_generate needs input_ids, a prompt of at least one token.")
    check_supported(model.config, type(model).__name__)
    for name in ("cache", "past_key_values"):
        cache = model_kwargs.get(name)
        if cache is not None and cache.get_seq_length() > 0:
            raise ValueError(f"lookahead_generate keeps its own KV cache; leave out {name}.")
    attention = model.config.get_text_config(decoder=True)._attn_implementation
    if attention not in _ATTENTION:
        raise UnsupportedModelError(
            f"Attention '{attention}' misreads a token tree.",
            "Load the model with attn_implementation='sdpa'.",
        )
    for name, value in model_kwargs.items():
        if value is not None and name not in _KNOWN_INPUTS:
            raise ValueError(f"lookahead_generate feeds tokens and their positions alone; leave out {name}.")
    _try_once(model)
    mask = model_kwargs.get("attention_mask")
    if mask is None:
        mask = torch.ones_like(input_ids)
    if mask.dim() != 2 or not mask[0, -1] or (mask[0].int().diff() < 0).any():
        raise ValueError(
            "lookahead_generate takes an attention_mask of (1, L) with padding on the left alone."
        )
    if not mask.all() and length_dependent_rope(model.config) is not None:
        raise ValueError("This model's positions depend on the length of the input; leave out the padding.")
    # The tokens behind the padding count their positions from 0.
    tokens = [int(token) for token, seen in zip(input_ids[0], mask[0], strict=True) if seen]
    positions = model_kwargs.get("position_ids")
    if positions is not None and positions.flatten()[-len(tokens) :].tolist() != list(range(len(tokens))):
        raise ValueError("lookahead_generate counts positions from 0, one a token; leave out position_ids.")
    return tokens
