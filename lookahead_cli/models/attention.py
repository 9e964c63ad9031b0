"""Attention over a token tree, registered with transformers under a name of its own.

The query heads of a group are folded into the query length, so keys and values of grouped-query models are
read where the KV cache holds them: the usual way repeats them, once a layer and step.
"""

from __future__ import annotations

from typing import Any

import torch

NAME = "lookahead_sdpa"
_FOLDED = "_lookahead_folded"


def register() -> None:
    """Make `NAME` known to transformers; more than once does no harm."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    AttentionInterface.register(NAME, tree_attention)
    # Passes that bring no mask of ours, such as those of the model's own `generate`, get the usual one.
    AttentionMaskInterface.register(NAME, sdpa_mask)


def tree_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **rest: Any,
) -> tuple[torch.Tensor, None]:
    """Scaled dot-product attention, grouped heads folded.

    Args:
        module: The attention layer.
        query: (batch, heads, Q, head_dim).
        key: (batch, kv_heads, K, head_dim).
        value: As `key`.
        attention_mask: Additive floats (1, 1, Q, K) as `MaskBuilder` makes them; anything else takes
            transformers' own way.
        scaling: Factor of the products, None for 1 / sqrt(head_dim).
        dropout: Of the attention's weights, in training.
        rest: What transformers' own way takes besides.

    Returns:
        (batch, Q, heads, head_dim), and None for the weights.
    """
    if not _is_ours(attention_mask, query, key):
        from transformers.integrations.sdpa_attention import sdpa_attention_forward

        usual, _ = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **rest
        )
        return usual, None
    assert attention_mask is not None
    batch, heads, nodes, head_dim = query.shape
    group = heads // key.shape[1]
    folded = query.reshape(batch, key.shape[1], group * nodes, head_dim)
    product = torch.nn.functional.scaled_dot_product_attention(
        folded, key, value, attn_mask=_tiled(attention_mask, group), scale=scaling
    )
    return product.view(batch, heads, nodes, value.shape[-1]).transpose(1, 2), None


def _is_ours(mask: torch.Tensor | None, query: torch.Tensor, key: torch.Tensor) -> bool:
    return (
        mask is not None
        and mask.dtype == query.dtype
        and mask.shape == (1, 1, query.shape[2], key.shape[2])
        and query.shape[1] % key.shape[1] == 0
    )


def _tiled(mask: torch.Tensor, group: int) -> torch.Tensor:
    """The mask once for each head of a group; all layers of a pass share it."""
    if group == 1:
        return mask
    known: torch.Tensor | None = getattr(mask, _FOLDED, None)
    if known is None or known.shape[2] != group * mask.shape[2]:
        known = mask.repeat(1, 1, group, 1)
        setattr(mask, _FOLDED, known)
    return known
