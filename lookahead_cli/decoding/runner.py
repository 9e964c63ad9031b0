"""What the decoding loop needs from a model, and from what reads its logits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from lookahead_cli.decoding.records import Choice
from lookahead_cli.decoding.tree import TokenTree


class Readout(Protocol):
    """The model's answers to one tree."""

    @property
    def choices(self) -> Sequence[int | None]:
        """The choices that were made so far; None where nobody asked."""
        ...

    def choice(self, node: int) -> int:
        """The model's next token after `node`: the likeliest (the first index among equals), or a draw."""
        ...

    def detail(self, node: int) -> Choice:
        """Probabilities of the choice and of the runner-up after `node`."""
        ...

    def probability(self, node: int, token: int) -> float:
        """Probability of `token` after `node`."""
        ...

    def likeliest(self, count: int) -> tuple[list[list[int]], list[list[float]]]:
        """The `count` likeliest tokens after every node, before any processor, and their probabilities."""
        ...


class Reader(Protocol):
    """Chooses tokens from logits; `lookahead_cli.decoding.sampling.Sampler` is one."""

    def read(self, logits: Any, tree: TokenTree, text_ids: Sequence[int], emitted_before: int) -> Readout:
        """The answers to a tree whose root stands behind `text_ids`."""
        ...


class Runner(Protocol):
    """A model with a KV cache that can be rolled back."""

    @property
    def ids(self) -> Sequence[int]:
        """The tokens in the KV cache; their number is the position of the next root."""
        ...

    @property
    def position_limit(self) -> int | None:
        """First position that the next tree may not feed, None for no limit."""
        ...

    def forward(self, tree: TokenTree) -> Any:
        """Logits (Q, V) after all Q nodes of `tree`; the KV cache does not grow until `commit`."""
        ...

    def commit(self, tree: TokenTree, nodes: Sequence[int]) -> None:
        """Keep the KV entries of `nodes`, a path from the root, and drop the tree's others."""
        ...
