"""A KV cache that can be rolled back: a step's entries are kept only where the walk went.

Entries lie in a buffer that grows in blocks. A forward pass writes its nodes behind the kept ones; `keep`
gathers the accepted path to the end of the kept part. Nothing is ever evicted: sliding windows are a matter
of the mask.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers.cache_utils import Cache, CacheLayerMixin

BLOCK = 256


class TreeCacheLayer(CacheLayerMixin):  # type: ignore[misc]  # transformers is not typed for mypy
    """Keys and values of one layer, both (1, kv_heads, capacity, head_dim)."""

    is_sliding = False
    is_croppable = True

    def __init__(self, **_: Any) -> None:
        super().__init__()
        self.length = 0

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Take shape, type and device from the first entries."""
        self.keys = key_states.new_empty((*key_states.shape[:2], 0, key_states.shape[-1]))
        self.values = value_states.new_empty((*value_states.shape[:2], 0, value_states.shape[-1]))
        self.device = key_states.device
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write entries (1, kv_heads, Q, head_dim) behind the kept ones and return all of them."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        end = self.length + key_states.shape[-2]
        if end > self.keys.shape[-2]:
            self._grow(end)
        self.keys[:, :, self.length : end] = key_states
        self.values[:, :, self.length : end] = value_states
        return self.keys[:, :, :end], self.values[:, :, :end]

    def _grow(self, needed: int) -> None:
        capacity = max(2 * self.keys.shape[-2], -(-needed // BLOCK) * BLOCK)
        for name in ("keys", "values"):
            old = getattr(self, name)
            new = old.new_zeros((*old.shape[:2], capacity, old.shape[-1]))
            new[:, :, : self.length] = old[:, :, : self.length]
            setattr(self, name, new)

    def keep(self, slots: torch.Tensor | None, count: int) -> None:
        """Gather entries `slots` of the last pass behind the kept ones; None keeps its first `count`."""
        end = self.length + count
        if slots is not None:
            # The layers of a model may lie on several devices.
            slots = slots.to(self.keys.device)
            for buffer in (self.keys, self.values):
                buffer[:, :, self.length : end] = buffer.index_select(2, slots + self.length)
        self.length = end

    def crop(self, tokens_to_remove: int) -> None:
        """Drop entries from the end; the count is negative."""
        self.length += tokens_to_remove

    def reset(self) -> None:
        """Drop every entry."""
        self.length = 0

    def get_seq_length(self, *_: Any) -> int:
        """Kept entries."""
        return self.length

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Length of the keys that a pass of `query_length` nodes sees, and the offset of the first."""
        return self.length + query_length, 0

    def get_max_length(self) -> int:
        """-1: it grows as needed."""
        return -1

    def get_max_cache_shape(self) -> int:
        """-1: it grows as needed (name of this method before transformers 5.20)."""
        return -1


class TreeCache(Cache):  # type: ignore[misc]  # transformers is not typed for mypy
    """A `TreeCacheLayer` for each layer of the model.

    Layers of one shape share one buffer (layers, 2, 1, kv_heads, capacity, head_dim), so that an accepted
    path is gathered at once and not layer by layer.
    """

    def __init__(self) -> None:
        super().__init__(layer_class_to_replicate=TreeCacheLayer)
        self._shared: torch.Tensor | None = None

    def keep(self, nodes: list[int], device: torch.device) -> None:
        """Keep the entries of `nodes` (indices into the last pass) and drop its others."""
        in_place = nodes == list(range(len(nodes)))
        slots = None if in_place else torch.tensor(nodes, device=device)
        shared = None if slots is None else self._one_buffer()
        if slots is not None and shared is not None:
            kept = self.layers[0].length
            shared[..., kept : kept + len(nodes), :] = shared.index_select(-2, slots + kept)
            slots = None
        for layer in self.layers:
            layer.keep(slots, len(nodes))

    def _one_buffer(self) -> torch.Tensor | None:
        """The buffer of all layers; None where their shapes differ."""
        layers = self.layers
        first = layers[0]
        if self._shared is not None and first.keys.shape == self._shared.shape[2:]:
            return self._shared
        self._shared = None
        if any(
            buffer.shape != first.keys.shape or buffer.device != first.device
            for layer in layers
            for buffer in (layer.keys, layer.values)
        ):
            return None
        shared: torch.Tensor = first.keys.new_empty((len(layers), 2, *first.keys.shape))
        for layer, place in zip(layers, shared, strict=True):
            place[0], place[1] = layer.keys, layer.values
            layer.keys, layer.values = place[0], place[1]
        self._shared = shared
        return shared

    def truncate(self, length: int) -> None:
        """Drop every entry past the first `length`."""
        for layer in self.layers:
            layer.length = min(layer.length, length)
