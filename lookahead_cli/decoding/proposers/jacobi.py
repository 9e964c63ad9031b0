"""Jacobi decoding: one chain of guesses, refined by every pass (Santilli et al., arXiv 2305.10427)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from lookahead_cli.decoding.proposers.base import Findings, Observation
from lookahead_cli.decoding.records import Origin, WindowRecord
from lookahead_cli.decoding.tree import TokenTree


class JacobiProposer:
    """A chain of W tokens, the current one included; the outputs of one step are the guesses of the next.

    Args:
        prompt_ids: Where guesses are drawn from, at the start and at the chain's end.
        window_size: W.
        seed: Seed of those draws.
    """

    def __init__(self, prompt_ids: Sequence[int], window_size: int, seed: int) -> None:
        self._prompt_ids = tuple(prompt_ids)
        self._random = random.Random(seed)
        self._guesses = [self._draw() for _ in range(window_size - 1)]
        self._refilled = tuple((0, column) for column in range(1, window_size))
        self._nodes: list[int | None] = []

    def _draw(self) -> int:
        return self._random.choice(self._prompt_ids)

    def propose(self, tree: TokenTree) -> None:
        """Hang the chain on the root."""
        nodes: list[int | None] = [0]
        for column, token in enumerate(self._guesses, start=1):
            nodes.append(tree.add(nodes[-1], token, Origin("window", row=0, column=column)))
        self._nodes = nodes

    def observe(self, observation: Observation) -> Findings:
        """The outputs past the emitted tokens are the next guesses for the same positions."""
        outputs = [None if node is None else observation.readout.choice(node) for node in self._nodes]
        record = WindowRecord(
            rows=((observation.tree.tokens[0], *self._guesses),),
            nodes=(tuple(self._nodes),),
            new=tuple(outputs),
            refilled=self._refilled,
        )
        kept = outputs[len(observation.emitted) :]
        refilled = []
        for column in range(1, len(self._guesses) + 1):
            token = kept[column - 1] if column <= len(kept) else None
            if token is None:
                refilled.append((0, column))
                token = self._draw()
            self._guesses[column - 1] = token
        self._refilled = tuple(refilled)
        return Findings(window=record)
