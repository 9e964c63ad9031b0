"""Attention masks for a token tree behind a KV cache.

Masks are additive floats of shape (1, 1, Q, K): 0 where a node sees a key, the type's lowest value
elsewhere. A bool mask would be right under sdpa and silently wrong under eager attention.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import torch


def ancestors(parents: Sequence[int], device: torch.device) -> torch.Tensor:
    """Who sees whom inside a tree: (Q, Q) bool, true for itself and its ancestors."""
    count = len(parents)
    rows: list[bytearray] = []
    for node, parent in enumerate(parents):
        # A node sees what its parent sees, and itself.
        row = bytearray(rows[parent]) if parent >= 0 else bytearray(count)
        row[node] = 1
        rows.append(row)
    seen = torch.frombuffer(bytearray().join(rows), dtype=torch.bool)
    return seen.view(count, count).to(device)


def sliding_window_of(model: Any) -> int | None:
    """Positions that a sliding-window layer of this model sees, None where it has no such layer.

    A configuration may name a window that its kind of model never looks at, so the model's own code is asked:
    what slides makes its masks with transformers' function for that.
    """
    window: int | None = getattr(model.config.get_text_config(decoder=True), "sliding_window", None)
    if not window:
        return None
    modules = {type(module).__module__ for module in model.modules()}
    slides = any(hasattr(sys.modules.get(name), "create_sliding_window_causal_mask") for name in modules)
    return window if slides else None


class MaskBuilder:
    """Builds what the model takes as `attention_mask`.

    Args:
        model: A transformers model.
    """

    def __init__(self, model: Any) -> None:
        self._dtype: torch.dtype = model.dtype
        self._lowest = torch.finfo(self._dtype).min
        self._device: torch.device = model.device
        self._window = sliding_window_of(model)
        layers = getattr(model.config.get_text_config(decoder=True), "layer_types", None)
        self._kinds = list(dict.fromkeys(layers or ["sliding_attention"]))
        if self._window is None:
            self._kinds = ["full_attention"]

    def build(
        self, visible: torch.Tensor, positions: torch.Tensor, cached: int
    ) -> torch.Tensor | dict[str, torch.Tensor]:
        """Masks for Q nodes behind `cached` entries.

        Args:
            visible: (Q, Q) bool, who sees whom among the nodes.
            positions: (Q,) absolute position of each node.
            cached: Entries in the KV cache; entry j stands at position j.

        Returns:
            One mask where all layers are of one kind, else one for each kind, as mixed models take them.
        """
        masks = {kind: self._mask(visible, positions, cached, kind) for kind in self._kinds}
        return masks if len(masks) > 1 else masks[self._kinds[0]]

    def _mask(self, visible: torch.Tensor, positions: torch.Tensor, cached: int, kind: str) -> torch.Tensor:
        """Additive floats (1, 1, Q, K) for the layers of one kind."""
        nodes = len(visible)
        mask = torch.zeros(nodes, cached + nodes, dtype=self._dtype, device=self._device)
        hidden = ~visible
        if kind == "sliding_attention" and self._window is not None:
            first = positions[:, None] - self._window
            hidden |= positions[None, :] <= first
            mask[:, :cached].masked_fill_(
                torch.arange(cached, device=self._device)[None, :] <= first, self._lowest
            )
        mask[:, cached:].masked_fill_(hidden, self._lowest)
        return mask[None, None]
