"""A draft model: a smaller model's own continuation (Leviathan et al., arXiv 2211.17192)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


class DraftProposer:
    """A chain that a smaller model with the same vocabulary decodes token by token.

    Args:
        runner: The draft model.
        sampler: How it chooses; with the main model's, equal distributions choose equal tokens.
        prompt_ids: The whole prompt.
        length: Most tokens that are proposed.
    """

    def __init__(self, runner: DraftRunner, sampler: Reader, prompt_ids: Sequence[int], length: int) -> None:
        self._runner = runner
        self._sampler = sampler
        self._ids = list(prompt_ids)
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
        runner = self._runner
        if not runner.has_room_for(len(self._ids)):
            return
        runner.prefill(self._ids[:-1])
        for depth in range(self._length):
            if not runner.has_room_for(len(runner.ids) + 1):
                return
            alone = TokenTree(token, len(runner.ids))
            readout = self._sampler.read(runner.forward(alone), alone, runner.ids, self._emitted + depth)
            runner.commit(alone, (0,))
            token = readout.choice(0)
            yield token

    def observe(self, observation: Observation) -> Findings:
        """Say how far the chain was right, and take the emitted tokens into the text."""
        candidates = self._branch.judge(observation)
        self._ids += observation.emitted
        self._emitted += len(observation.emitted)
        self._step += 1
        return Findings(candidates=candidates)
