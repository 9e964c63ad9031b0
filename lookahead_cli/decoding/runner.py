"""What the decoding loop needs from a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lookahead_cli.decoding.records import Choice
from lookahead_cli.decoding.tree import TokenTree


class Readout(Protocol):
    """The model's answer to one tree."""

    @property
    def choices(self) -> Sequence[int]:
        """The model's next token after each node (the first index among equals)."""
        ...

    def detail(self, node: int) -> Choice:
        """Probabilities of the choice and of the runner-up after `node`."""
        ...

    def probability(self, node: int, token: int) -> float:
        """Probability of `token` after `node`."""
        ...


class Runner(Protocol):
    """A model with a KV cache that can be rolled back."""

    @property
    def length(self) -> int:
        """Tokens in the KV cache: the position of the next root."""
        ...

    @property
    def context_length(self) -> int | None:
        """Positions that the model has, None for no limit."""
        ...

    def forward(self, tree: TokenTree) -> Readout:
        """One pass over all nodes of `tree`; the KV cache does not grow until `commit`."""
        ...

    def commit(self, tree: TokenTree, nodes: Sequence[int]) -> None:
        """Keep the KV entries of `nodes`, a path from the root, and drop the tree's others."""
        ...
