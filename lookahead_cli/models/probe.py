"""Tries on a loaded model whether tree attention is exact, for kinds of models that our tests do not run.

A configuration does not tell everything: a model may build its own mask, or take positions from places in the
input. So a small forked tree is compared with the same tokens fed as plain texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from lookahead_cli.decoding.records import Origin
from lookahead_cli.decoding.tree import TokenTree
from lookahead_cli.errors import UnsupportedModelError
from lookahead_cli.models.runner import TransformersRunner

VERIFIED = frozenset(
    {
        "llama",
        "mistral",
        "qwen2",
        "qwen3",
        "gemma",
        "gemma3_text",
        "phi3",
        "gpt2",
        "smollm3",
        "olmo2",
        "granite",
    }
)
"""Model types that are tested on random weights, and need no trial at each start."""

# As a share of the logits' standard deviation. Rounding stays far below, a wrong mask or position far above.
_LIMITS = {torch.float64: 1e-3, torch.float32: 1e-3, torch.bfloat16: 0.2, torch.float16: 0.1}
_PROMPT_LENGTH = 5
_WINDOW = 4
_BRANCHES = ((0, 1, 2), (3, 4), (0, 5))


def needs_trial(config: Any) -> bool:
    """True for a kind of model that the tests do not run."""
    return config.get_text_config(decoder=True).model_type not in VERIFIED


def check_tree_attention(model: Any, name: str) -> None:
    """Compare a forked tree with plain texts, before and after one branch is kept.

    A sliding window is tried at a size that so short a text crosses.

    Raises:
        UnsupportedModelError: They differ, or the model cannot be fed a tree at all.
    """
    try:
        with _short_window(model):
            error = tree_error(model)
        reason = (
            f"its logits are off by {error:.2g} standard deviations" if error > _LIMITS[model.dtype] else ""
        )
    except (TypeError, ValueError, RuntimeError, IndexError, AttributeError, NotImplementedError) as failure:
        reason = f"feeding one raises {type(failure).__name__}"
    if reason:
        raise UnsupportedModelError(
            f"{name} ({model.config.model_type}) cannot be decoded with a token tree: in a trial, {reason}.",
            "Choose a model of another kind, such as smollm2-135m.",
        )


@contextmanager
def _short_window(model: Any) -> Iterator[None]:
    config = model.config.get_text_config(decoder=True)
    window = getattr(config, "sliding_window", None)
    if not window:
        yield
        return
    config.sliding_window = min(window, _WINDOW)
    try:
        yield
    finally:
        config.sliding_window = window


def trial_tree(model: Any, nodes: int) -> TokenTree:
    """A tree of so many nodes that forks, at the start of a text."""
    vocabulary: int = model.config.get_text_config(decoder=True).vocab_size
    words = [vocabulary // 3 + index % max(1, vocabulary // 3) for index in range(nodes)]
    tree = TokenTree(words[0], 0)
    for word in words[1:]:
        tree.add(0 if len(tree) % 5 == 0 else len(tree) - 1, word, Origin("draft"))
    return tree


def logits_differ(logits: torch.Tensor, expected: torch.Tensor) -> bool:
    """True where two passes over one tree differ by more than another order of roundings does.

    At the first positions of a text activations are so large that 16 bits leave a fifth of the logits'
    standard deviation open; another mask or other positions move them by a whole one.
    """
    exact = expected.dtype in (torch.float32, torch.float64)
    expected = expected.float()
    off = float((logits.float() - expected).square().mean().sqrt() / expected.std())
    return not off < (1e-3 if exact else 0.4)


@torch.inference_mode()
def tree_error(model: Any) -> float:
    """Largest difference of logits between a tree and plain texts, in standard deviations of the logits."""
    ids = _some_ids(model.config)
    prompt, root, words = ids[:_PROMPT_LENGTH], ids[_PROMPT_LENGTH], ids[_PROMPT_LENGTH + 1 :]
    runner = TransformersRunner(model, None)
    runner.prefill(prompt)
    tree = TokenTree(root, len(runner.ids))
    leaves = [_grow(tree, [words[word] for word in branch]) for branch in _BRANCHES]
    logits = runner.forward(tree)
    errors = [
        _difference(logits[leaf], _plain_logits(model, [*prompt, *_texts(tree, leaf)])) for leaf in leaves
    ]
    kept = _path(tree, leaves[1])
    runner.commit(tree, kept)
    after = TokenTree(words[0], len(runner.ids))
    text = [*prompt, *(tree.tokens[node] for node in kept), words[0]]
    errors.append(_difference(runner.forward(after)[0], _plain_logits(model, text)))
    return max(errors)


def _some_ids(config: Any) -> list[int]:
    vocabulary: int = config.get_text_config(decoder=True).vocab_size
    count = _PROMPT_LENGTH + 1 + 1 + max(max(branch) for branch in _BRANCHES)
    # Spread over the vocabulary, away from the special tokens at its start.
    return [vocabulary // 3 + 7 * index % max(1, vocabulary // 3) for index in range(count)]


def _grow(tree: TokenTree, tokens: list[int]) -> int:
    node = 0
    for token in tokens:
        child = tree.add(node, token, Origin("draft"))
        assert child is not None
        node = child
    return node


def _path(tree: TokenTree, node: int) -> list[int]:
    path = []
    while node >= 0:
        path.append(node)
        node = tree.parents[node]
    return path[::-1]


def _texts(tree: TokenTree, node: int) -> list[int]:
    return [tree.tokens[step] for step in _path(tree, node)]


def _plain_logits(model: Any, ids: list[int]) -> torch.Tensor:
    output = model(input_ids=torch.tensor([ids], device=model.device), use_cache=False)
    logits: torch.Tensor = output.logits[0, -1]
    return logits


def _difference(logits: torch.Tensor, expected: torch.Tensor) -> float:
    expected = expected.float()
    return float((logits.float() - expected).abs().max() / expected.std())
