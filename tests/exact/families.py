"""Tiny random models of every family against transformers' own greedy `generate`, in every corner."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.loop import decode
from lookahead_cli.decoding.proposers import Draft, make_proposer, rules_of
from lookahead_cli.decoding.stopping import Stopping
from lookahead_cli.models.loading import context_length_of
from lookahead_cli.models.rope import is_stretched
from lookahead_cli.models.runner import TransformersRunner
from lookahead_cli.models.sampling import sampler_of
from tests.tiny import tiny_model

SLIDING = 16
FAMILIES: dict[str, dict[str, Any]] = {
    "llama": {},
    "mistral": {"sliding_window": SLIDING},
    "mixtral": {"num_local_experts": 4, "num_experts_per_tok": 2},
    "qwen2": {},
    "qwen2_moe": {
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 32,
        "shared_expert_intermediate_size": 32,
    },
    "qwen3": {},
    "gemma2": {"sliding_window": SLIDING, "query_pre_attn_scalar": 8, "attn_logit_softcapping": 5.0},
    "gemma3_text": {
        "sliding_window": SLIDING,
        "query_pre_attn_scalar": 8,
        "layer_types": ["sliding_attention", "full_attention"],
    },
    "phi3": {"num_key_value_heads": 2},
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 256},
    "gpt_neox": {},
    "starcoder2": {"sliding_window": SLIDING},
    "olmo2": {},
    "cohere": {},
    "cohere2": {"sliding_window": SLIDING, "layer_types": ["sliding_attention", "full_attention"]},
    "falcon": {"head_dim": None, "alibi": False, "new_decoder_architecture": False, "multi_query": True},
    "smollm3": {"no_rope_layers": [1, 0]},
}
BORDER = 60
# Families whose position embeddings change at a border inside their context.
BORDERED: dict[str, tuple[str, dict[str, Any]]] = {
    "dynamic NTK": (
        "llama",
        {
            "max_position_embeddings": BORDER,
            "rope_parameters": {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 4.0},
        },
    ),
    "longrope": (
        "llama",
        {
            "rope_parameters": {
                "rope_type": "longrope",
                "rope_theta": 10000.0,
                "original_max_position_embeddings": BORDER,
                "short_factor": [1.0, 1.1, 1.2, 1.3],
                "long_factor": [1.5, 2.0, 3.0, 4.0],
            }
        },
    ),
    "phi3 longrope": (
        "phi3",
        {
            "original_max_position_embeddings": BORDER,
            "rope_parameters": {
                "rope_type": "longrope",
                "rope_theta": 10000.0,
                "original_max_position_embeddings": BORDER,
                "short_factor": [1.0, 1.1, 1.2, 1.3],
                "long_factor": [1.5, 2.0, 3.0, 4.0],
            },
        },
    ),
}
EXPERTS = frozenset({"mixtral", "qwen2_moe"})
METHODS: dict[str, dict[str, Any]] = {
    "lookahead": {},
    "jacobi": {"method": "jacobi"},
    "prompt-lookup": {"method": "prompt-lookup"},
    "reference": {"method": "lookahead-reference"},
    "recycled": {"sources": ("window", "prompt", "recycled"), "node_budget": 12},
    "draft": {"method": "draft"},
}
CORNERS = tuple(itertools.product((1, 2, 5, 15), (2, 3, 5), (0, 1, 5, 15)))
# Small steps for the methods that know no pool: there only W and N change anything.
PROMPTS = (1, 2, 50)
BORDER_PROMPTS = (50, BORDER - 1, BORDER, BORDER + 1, BORDER + 20)
TOKENS = 24
NO_TOKEN = 1 << 30
"""An end of sequence that no vocabulary has."""
TO_THE_END = 8
"""Tokens that the prompt called 0 leaves free in the context."""


@dataclass(frozen=True, slots=True)
class FamilyCase:
    """One family, method and prompt length (0: up to the context's end), in every corner of W, N, G."""

    family: str
    method: str
    length: int

    @property
    def key(self) -> str:
        return f"{self.family} {self.method} prompt {self.length or 'to the end'}"


def all_family_cases() -> list[FamilyCase]:
    cases = [FamilyCase(*case) for case in itertools.product(FAMILIES, METHODS, (*PROMPTS, 0))]
    # Prompts that end before, at and behind the border.
    return cases + [FamilyCase(*case) for case in itertools.product(BORDERED, METHODS, (*BORDER_PROMPTS, 0))]


@cache
def family_model(family: str) -> Any:
    """In float64, so that a near tie does not decide; mixtures of experts have products for float32 alone."""
    kind, settings = BORDERED.get(family) or (family, FAMILIES[family])
    model = tiny_model(kind, **settings)
    return model if family in EXPERTS else model.to(torch.float64)


def prompt_of(length: int) -> list[int]:
    return [(7 * at * at + 5 * at) % 250 + 5 for at in range(length)]


def generated(model: Any, prompt: Sequence[int], tokens: int) -> list[int]:
    if is_stretched(model, 0):
        # Dynamic NTK keeps the frequencies of a longer text before; a short pass sets them back.
        model(input_ids=torch.zeros(1, 1, dtype=torch.long), use_cache=False)
    inputs = torch.tensor([list(prompt)])
    output = model.generate(
        inputs,
        attention_mask=torch.ones_like(inputs),
        do_sample=False,
        num_beams=1,
        max_new_tokens=tokens,
        eos_token_id=NO_TOKEN,
        pad_token_id=0,
    )
    return output[0, len(prompt) :].tolist()


def decoded(
    model: Any, prompt: Sequence[int], config: LookaheadConfig, runner: TransformersRunner | None = None
) -> list[int]:
    limit = context_length_of(model.config)
    runner = runner or TransformersRunner(model, limit)
    runner.prefill(prompt[:-1])
    sampler = sampler_of(config)
    # A model of its own: position embeddings remember the longest text that was fed.
    draft = Draft(TransformersRunner(deepcopy(model), limit), sampler) if config.method == "draft" else None
    proposer = make_proposer(config, prompt, draft=draft)
    stopping = Stopping(config.max_new_tokens, context_length=limit)
    steps = decode(runner, prompt[-1], proposer, stopping, sampler, rules=rules_of(config))
    return [token for step in steps for token in step.token_ids]


def differing_corners(
    case: FamilyCase, corners: Sequence[tuple[int, int, int]] = CORNERS
) -> Iterator[tuple[int, int, int]]:
    """The corners whose ids are not those of `generate`."""
    model = family_model(case.family)
    context = context_length_of(model.config)
    assert context is not None
    prompt = prompt_of(case.length or context - TO_THE_END)
    expected = generated(model, prompt, min(TOKENS, context - len(prompt)))
    for window, ngram, guesses in corners:
        sizes = {"window_size": window, "ngram_size": ngram, "guess_set_size": guesses}
        config = LookaheadConfig(max_new_tokens=TOKENS, **sizes, **METHODS[case.method])
        if decoded(model, prompt, config) != expected:
            yield window, ngram, guesses
