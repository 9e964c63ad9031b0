"""The seam between the loop and what guesses tokens for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from lookahead_cli.decoding.records import Candidate, PoolRecord, WindowRecord
from lookahead_cli.decoding.runner import Readout
from lookahead_cli.decoding.tree import TokenTree


@dataclass(frozen=True, slots=True)
class Observation:
    """What a proposer may learn from a step.

    Attributes:
        step: Index of the step.
        tree: The tree that was fed.
        readout: The model's answers.
        path: Nodes of the walk, root first.
        emitted: Ids that the step emitted; the last one is the next root.
    """

    step: int
    tree: TokenTree
    readout: Readout
    path: tuple[int, ...]
    emitted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """What a proposer has to show for a step."""

    candidates: tuple[Candidate, ...] = ()
    window: WindowRecord | None = None
    pool: PoolRecord | None = None


class Proposer(Protocol):
    """Guesses at what follows, and learns from the answers."""

    def propose(self, tree: TokenTree) -> None:
        """Grow `tree`, which holds the root alone."""
        ...

    def observe(self, observation: Observation) -> Findings:
        """Say what became of the proposals and learn from the answers; the next call is `propose`."""
        ...
