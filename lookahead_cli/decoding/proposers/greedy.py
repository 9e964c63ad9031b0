"""Greedy decoding: nothing is guessed, every step emits one token."""

from __future__ import annotations

from lookahead_cli.decoding.proposers.base import Findings, Observation
from lookahead_cli.decoding.tree import TokenTree


class GreedyProposer:
    """Proposes nothing."""

    def propose(self, tree: TokenTree) -> None:
        """Leave the root alone."""

    def observe(self, observation: Observation) -> Findings:
        """Learn nothing."""
        return Findings()
