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
from lookahead_cli.models.rope import is_stretched, length_dependent_rope

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
        self._rope = length_dependent_rope(model.config)
        self._fed_past_border = False
        self._cache = TreeCache()
        self._masks = MaskBuilder(model)
        # transformers renames this argument from 5.24 on.
        names = inspect.signature(model.forward).parameters
        self._cache_argument = "cache" if "cache" in names else "past_key_values"

    @property
    def context_length(self) -> int | None:
        """Positions that the model has."""
        return self._context_length

    @property
    def position_limit(self) -> int | None:
        """First position that the next tree may not feed."""
        if self._rope is None:
            return self._context_length
        return self._rope.position_limit(len(self.ids), self._context_length)

    def has_room_for(self, tokens: int) -> bool:
        """True where a text of so many tokens fits the context."""
        return self._context_length is None or tokens <= self._context_length

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
        past_border = self._rope is not None and len(ids) >= self._rope.border
        if past_border or self._fed_past_border:
            # Entries made with other frequencies are of no use.
            self._truncate(0)
        self._settle_rope(0)
        self._fed_past_border = past_border
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
            self._feed_text(chunk, len(ids) if past_border else None)
        if on_progress is not None and missing:
            on_progress(missing, missing)
        return True

    @torch.inference_mode()
    def forward(self, tree: TokenTree) -> torch.Tensor:
        """Logits (Q, V) after all nodes of the tree; the KV cache does not grow until `commit`."""
        rope = self._rope
        if (
            rope is not None
            and rope.feeds_anew
            and tree.position >= rope.border
            and not self._fed_past_border
        ):
            self._feed_anew()
        # Somebody else may have fed the model a longer text since the last step.
        self._settle_rope(tree.position + 1)
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

    def _feed_text(self, chunk: list[int], anchor: int | None) -> None:
        """Feed a part of the text and keep it; `anchor` is the position whose frequencies it is fed with."""
        count, start = len(chunk), len(self.ids)
        tokens, positions = list(chunk), list(range(start, start + count))
        visible = torch.ones(count, count, dtype=torch.bool, device=self.device).tril()
        if anchor is not None:
            # One more token, which nothing sees and which is not kept, stands at that position.
            tokens.append(chunk[-1])
            positions.append(anchor)
            apart = torch.zeros(count + 1, count + 1, dtype=torch.bool, device=self.device)
            apart[:count, :count] = visible
            apart[count, count] = True
            visible = apart
        self._feed(tokens, positions, visible, logits_to_keep=1)
        self._cache.keep(list(range(count)), self.device)
        self.ids.extend(chunk)

    def _feed_anew(self) -> None:
        """The text crosses the border: its KV cache is made anew, as the model's own `generate` does."""
        text = list(self.ids)
        self._truncate(0)
        for start in range(0, len(text), PREFILL_CHUNK):
            self._feed_text(text[start : start + PREFILL_CHUNK], len(text))
        self._fed_past_border = True

    def _settle_rope(self, length: int) -> None:
        """Forget the frequencies of a text longer than `length`; a token at position 0 sets them back."""
        if self._rope is not None and self._rope.kind == "dynamic" and is_stretched(self.model, length):
            first = torch.zeros(1, 1, dtype=torch.long, device=self.device)
            self.model(input_ids=first, position_ids=first, use_cache=False)

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
