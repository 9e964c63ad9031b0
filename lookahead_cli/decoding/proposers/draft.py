"""A draft model: a smaller model's own continuation (Leviathan et al., arXiv 2211.17192)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from lookahead_cli.decoding.pool import NGram
from lookahead_cli.decoding.proposers.base import Findings, Observation
from lookahead_cli.decoding.proposers.candidates import PoolBranch
from lookahead_cli.decoding.runner import Reader, Runner
from lookahead_cli.decoding.tree import TokenTree


class DraftRunner(Runner, Protocol):
    """A runner that can be set to a text."""

    def has_room_for(self, tokens: int) -> bool:
        """True where a text of so many tokens fits the context."""
        ...

    def prefill(self, ids: Sequence[int]) -> bool:
        """Make the KV cache hold exactly `ids`, feeding only what it does not hold."""
        ...


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft model, and how it is asked.

    Attributes:
        runner: The draft model.
        sampler: How it chooses; with the main model's, equal distributions choose equal tokens.
        shared_ids: Ids below it are known to both models; None where they know the same.
    """

    runner: DraftRunner
    sampler: Reader
    shared_ids: int | None = None

    def knows(self, ids: Sequence[int]) -> bool:
        """True where both models know every one of the ids."""
        return self.shared_ids is None or all(token < self.shared_ids for token in ids)


class DraftProposer:
    """A chain that a smaller model with the same vocabulary decodes token by token.

    Args:
        draft: The draft model.
        prompt_ids: The whole prompt.
        length: Most tokens that are proposed.
    """

    def __init__(self, draft: Draft, prompt_ids: Sequence[int], length: int) -> None:
        self._draft = draft
        self._ids = list(prompt_ids)
        self._readable = draft.knows(prompt_ids)
        self._emitted = 0
        self._length = length
        self._step = 0
        self._branch = PoolBranch([])

    def propose(self, tree: TokenTree) -> None:
        """Decode the chain, and hang it on the root."""
        tokens = tuple(self._decode(tree.tokens[0]))
        self._branch = PoolBranch([NGram(tokens, "draft", self._step)] if tokens else [])
        self._branch.grow(tree)

    def _decode(self, token: int) -> Iterator[int]:
        runner = self._draft.runner
        if not self._readable or not runner.has_room_for(len(self._ids)):
            return
        runner.prefill(self._ids[:-1])
        for depth in range(self._length):
            if not runner.has_room_for(len(runner.ids) + 1):
                return
            alone = TokenTree(token, len(runner.ids))
            logits = runner.forward(alone)
            readout = self._draft.sampler.read(logits, alone, runner.ids, self._emitted + depth)
            runner.commit(alone, (0,))
            token = readout.choice(0)
            if not self._draft.knows((token,)):
                return
            yield token

    def observe(self, observation: Observation) -> Findings:
        """Say how far the chain was right, and take the emitted tokens into the text."""
        candidates = self._branch.judge(observation)
        self._ids += observation.emitted
        self._readable = self._readable and self._draft.knows(observation.emitted)
        self._emitted += len(observation.emitted)
        self._step += 1
        return Findings(candidates=candidates)
