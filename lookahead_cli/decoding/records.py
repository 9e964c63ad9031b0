"""The records of one decoding step: what a reader needs to understand it without the model.

`Step` is the only thing that the decoding loop yields. Screens, printers, traces, meters and benchmarks all
consume it. Token ids are integers, positions are absolute (0 is the first prompt token), times are seconds.
This module imports the standard library alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

OriginKind = Literal["root", "pool", "window", "draft"]
NGramSource = Literal["window", "output", "prompt", "file", "recycled", "draft"]
FinishReason = Literal["eos", "stop", "length", "context", "cancelled", "failed"]
PoolEvent = Literal["insert", "refresh", "evict"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Who proposed a node.

    Attributes:
        kind: `root` for the current token, `window` for a cell of the 2D window, `pool` for a candidate from
            the n-gram pool, `draft` for a guess of a chain or a draft model.
        row: Row of the window cell, for `window`.
        column: Column of the window cell, for `window`.
        source: Where the n-gram was seen, for `pool`.
        born: Index of the step in which the n-gram was first seen, for `pool`; -1 when it was there before
            step 0.
    """

    kind: OriginKind
    row: int | None = None
    column: int | None = None
    source: NGramSource | None = None
    born: int | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """What the model said after a node, where it was read out in full.

    Attributes:
        probability: Probability of the token that the model chose.
        runner_up: The second likeliest token.
        runner_up_probability: Its probability.
    """

    probability: float
    runner_up: int
    runner_up_probability: float

    @property
    def logit_gap(self) -> float | None:
        """How far the two logits lie apart: the log of the ratio of the probabilities."""
        if self.runner_up_probability <= 0.0:
            return None
        return math.log(self.probability / self.runner_up_probability)


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the step's token tree.

    Attributes:
        token: Token id that was fed.
        parent: Index of the parent node in `Step.nodes`, -1 for the root. A parent comes before its children.
        position: Absolute position.
        origins: Everyone who proposed this node, in the order of credit: root, pool, window, draft.
        choice: The model's next token after this node (argmax, or the draw when sampling); None where nobody
            asked, since a draw costs time.
        detail: Probabilities at this node; read out along the walked path, None elsewhere.
        matched: True for the root and for each node that the walk went through.
    """

    token: int
    parent: int
    position: int
    origins: tuple[Origin, ...]
    choice: int | None = None
    detail: Choice | None = None
    matched: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """One continuation of the current token, tried in this step.

    Attributes:
        tokens: The tokens that follow the current token: N-1 of an n-gram, or as many as were guessed.
        nodes: Index of each token's node in `Step.nodes`; shorter than `tokens` where the context length cut
            it.
        matched: How many of the tokens the model confirmed.
        source: Where the n-gram was seen.
        born: Index of the step in which it was first seen, -1 for before step 0.
        wanted: The model's token at the first mismatch, None when all of it matched.
        wanted_probability: The probability of `wanted`.
        got_probability: The probability of the candidate's own token at the first mismatch.
    """

    tokens: tuple[int, ...]
    nodes: tuple[int, ...]
    matched: int
    source: NGramSource
    born: int
    wanted: int | None = None
    wanted_probability: float | None = None
    got_probability: float | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """One emitted token.

    Attributes:
        token: Token id.
        origin: Who guessed it; None for the step's last, the bonus token, which the model computed itself.
        probability: The model's probability of it.
    """

    token: int
    origin: Origin | None
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class WindowRecord:
    """The 2D Jacobi window of one step.

    Attributes:
        rows: N-1 rows, oldest first, W cells each; None where there is no cell. Cell (r, c) guesses position
            p + r + c; cell (0, 0) is the current token.
        nodes: Index of each cell's node in `Step.nodes`, same shape; None where no node was fed. Cells with
            equal paths share a node.
        new: The outputs at the last row: guesses for positions p + N-1 + c.
        refilled: Cells (row, column) that were filled with a random token since the step before.
    """

    rows: tuple[tuple[int | None, ...], ...]
    nodes: tuple[tuple[int | None, ...], ...]
    new: tuple[int | None, ...]
    refilled: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class PoolChange:
    """One change of the n-gram pool.

    Attributes:
        event: `insert` for a new n-gram, `refresh` for one that moved to the newest end, `evict` for one
            dropped.
        tokens: All N tokens; the first is the key.
        source: Where the n-gram was seen.
        column: Window column it was collected from, for source `window`.
    """

    event: PoolEvent
    tokens: tuple[int, ...]
    source: NGramSource
    column: int | None = None


@dataclass(frozen=True, slots=True)
class PoolRecord:
    """The n-gram pool after a step.

    Attributes:
        size: N-grams held.
        keys: Distinct first tokens.
        changes: What this step changed, in order.
    """

    size: int
    keys: int
    changes: tuple[PoolChange, ...]


@dataclass(frozen=True, slots=True)
class Seconds:
    """Seconds of one step, by phase.

    Attributes:
        propose: The proposer's own work: building the tree, judging its candidates, learning from the
            outputs.
        forward: The model's pass over the tree.
        readout: Choices and probabilities from the logits.
        verify: The walk, and cutting it at a stop.
        commit: Keeping the accepted part of the KV cache.
    """

    propose: float = 0.0
    forward: float = 0.0
    readout: float = 0.0
    verify: float = 0.0
    commit: float = 0.0

    @property
    def total(self) -> float:
        """Seconds of the whole step."""
        return self.propose + self.forward + self.readout + self.verify + self.commit


@dataclass(frozen=True, slots=True)
class Step:
    """One decoding step.

    Attributes:
        index: 0 for the first step.
        position: Absolute position of the root, the last accepted token.
        emitted_before: Tokens emitted by the steps before this one.
        nodes: The token tree, root first, parents before children.
        path: Node indices of the walk, root first: the nodes that the model confirmed.
        accepted: Tokens emitted, at least one.
        candidates: Pool candidates that were tried, newest n-gram first.
        window: The 2D window, None for a method without one.
        pool: The pool, None for a method without one.
        merged: Nodes saved since equal paths are fed once.
        seconds: Time by phase.
        finish_reason: Why decoding ended with this step, None while it goes on.
        overrun: Bytes of the last emitted token that lie past the stop string it completed.
    """

    index: int
    position: int
    emitted_before: int
    nodes: tuple[Node, ...]
    path: tuple[int, ...]
    accepted: tuple[Accepted, ...]
    candidates: tuple[Candidate, ...] = ()
    window: WindowRecord | None = None
    pool: PoolRecord | None = None
    merged: int = 0
    seconds: Seconds = Seconds()
    finish_reason: FinishReason | None = None
    overrun: int = 0

    @property
    def token_ids(self) -> tuple[int, ...]:
        """Ids that this step emitted."""
        return tuple(token.token for token in self.accepted)
