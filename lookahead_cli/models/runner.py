"""Runs a transformers model over token trees: prefill, forward, commit."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch

from lookahead_cli.decoding.tree import TokenTree
from lookahead_cli.models.cache import TreeCache
from lookahead_cli.models.masks import MaskBuilder, ancestors

PREFILL_CHUNK = 256


class TransformersRunner:
    """A causal language model with a KV cache that holds `ids`.

    Args:
        model: A transformers model in evaluation mode, unpatched.
        context_length: Positions that the model has, None for no limit.
    """

    def __init__(self, model: Any, context_length: int | None) -> None:
        self.model = model
        self.device: torch.device = model.device
        self.ids: list[int] = []
        self.fed_tokens = 0
        self._context_length = context_length
        self._cache = TreeCache()
        self._masks = MaskBuilder(model.config.get_text_config(decoder=True), model.dtype, self.device)
        # transformers renames this argument from 5.24 on.
        names = inspect.signature(model.forward).parameters
        self._cache_argument = "cache" if "cache" in names else "past_key_values"

    @property
    def context_length(self) -> int | None:
        """Positions that the model has."""
        return self._context_length

    @torch.inference_mode()
    def prefill(
        self,
        ids: Sequence[int],
        *,
        cancel: threading.Event | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> bool:
        """Make the KV cache hold exactly `ids`, feeding only what it does not hold already.

        Args:
            ids: Token ids, without the one that will be the root of the first step.
            cancel: Set from another thread to stop between two chunks.
            on_progress: Called with the tokens fed and the tokens to feed.

        Returns:
            False when it was cancelled; the cache then holds the part that was fed.
        """
        common = 0
        while common < min(len(ids), len(self.ids)) and ids[common] == self.ids[common]:
            common += 1
        self._truncate(common)
        missing = len(ids) - common
        for start in range(common, len(ids), PREFILL_CHUNK):
            if cancel is not None and cancel.is_set():
                return False
            chunk = list(ids[start : start + PREFILL_CHUNK])
            if on_progress is not None:
                on_progress(start - common, missing)
            visible = torch.ones(len(chunk), len(chunk), dtype=torch.bool, device=self.device).tril()
            positions = list(range(start, start + len(chunk)))
            self._feed(chunk, positions, visible, logits_to_keep=1)
            self._cache.keep(list(range(len(chunk))), self.device)
            self.ids.extend(chunk)
        if on_progress is not None and missing:
            on_progress(missing, missing)
        return True

    @torch.inference_mode()
    def forward(self, tree: TokenTree) -> torch.Tensor:
        """Logits (Q, V) after all nodes of the tree; the KV cache does not grow until `commit`."""
        visible = ancestors(tree.parents, self.device)
        logits = self._feed(tree.tokens, tree.positions(), visible, logits_to_keep=0)
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return logits[0]

    @torch.inference_mode()
    def commit(self, tree: TokenTree, nodes: Sequence[int]) -> None:
        """Keep the KV entries of `nodes`, a path from the root."""
        self._cache.keep(list(nodes), self.device)
        self.ids.extend(tree.tokens[node] for node in nodes)

    def _truncate(self, length: int) -> None:
        self._cache.truncate(length)
        del self.ids[length:]

    def _feed(
        self, tokens: list[int], positions: list[int], visible: torch.Tensor, logits_to_keep: int
    ) -> torch.Tensor:
        # A pass that failed half-way leaves some layers' entries behind; only kept ones count, so it did no
        # harm.
        position_ids = torch.tensor(positions, device=self.device)
        mask = self._masks.build(visible, position_ids, len(self.ids))
        self.fed_tokens += len(tokens)
        output = self.model(
            input_ids=torch.tensor([tokens], device=self.device),
            attention_mask=mask,
            position_ids=position_ids[None],
            use_cache=True,
            logits_to_keep=logits_to_keep,
            **{self._cache_argument: self._cache},
        )
        logits: torch.Tensor = output.logits
        return logits
