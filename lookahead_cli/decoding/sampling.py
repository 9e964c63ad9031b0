"""From logits to tokens: the likeliest one, or a draw that is the same whatever the tree looks like.

The draw at output position i uses one uniform number of (seed, i), by inverse transform. A token is then a
function of the seed, its position and the text before it; the tree only decides how many are taken in one
step. So every method gives the same ids, and their distribution is exactly the model's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from lookahead_cli.decoding.readout import LogitsReadout, Processors
from lookahead_cli.decoding.tree import TokenTree


class Uniforms(Protocol):
    """Uniform numbers by output position."""

    def __call__(self, position: int) -> float:
        """A number in [0, 1); asked twice for a position, the same one."""
        ...


@dataclass(frozen=True, slots=True)
class SeededUniforms:
    """Uniform numbers of (seed, position), the same on every machine.

    Attributes:
        seed: Any integer.
    """

    seed: int

    def __call__(self, position: int) -> float:
        """53 random bits, as many as a float64 holds."""
        digest = hashlib.blake2b(f"{self.seed}:{position}".encode(), digest_size=8).digest()
        return (int.from_bytes(digest, "big") >> 11) / (1 << 53)


def inverse_transform(probabilities: torch.Tensor, uniform: float) -> int:
    """The token in whose interval of the cumulated probabilities (V,) the number lies.

    Tokens of probability 0 have an empty interval and are never drawn.
    """
    cumulated = probabilities.cumsum(dim=-1)
    point = uniform * float(cumulated[-1])
    token = int(torch.searchsorted(cumulated, torch.tensor(point, dtype=cumulated.dtype), right=True))
    # Rounding may put the point at the very end: the last token that has an interval is meant.
    return min(token, int(probabilities.nonzero()[-1]))


@dataclass(frozen=True, slots=True)
class Sampler:
    """How tokens are chosen from logits.

    Attributes:
        processors: Logits processors, None for none.
        uniforms: Numbers for draws; None takes the likeliest token.
        padding_ids: Ids that only the processors see before the text.
    """

    processors: Processors | None = None
    uniforms: Uniforms | None = None
    padding_ids: tuple[int, ...] = ()

    def read(
        self, logits: torch.Tensor, tree: TokenTree, text_ids: Sequence[int], emitted_before: int
    ) -> LogitsReadout:
        """The answers to a tree.

        Args:
            logits: (Q, V) after each node.
            tree: The tree of Q nodes.
            text_ids: The text before the root.
            emitted_before: Tokens emitted by earlier steps; the choice after the root is output token
                `emitted_before`.
        """
        uniforms = self.uniforms
        draw = None
        if uniforms is not None:

            def draw(probabilities: torch.Tensor, depth: int) -> int:
                return inverse_transform(probabilities, uniforms(emitted_before + depth))

        seen_ids = [*self.padding_ids, *text_ids] if self.padding_ids else text_ids
        return LogitsReadout(logits, tree, seen_ids, self.processors, draw)
