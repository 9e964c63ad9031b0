"""Lookahead decoding: the 2D Jacobi window and the n-gram pool on one tree (algorithm 1 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence

from lookahead_cli.decoding.pool import NGramPool
from lookahead_cli.decoding.proposers.base import Findings, Observation
from lookahead_cli.decoding.proposers.candidates import PoolBranch
from lookahead_cli.decoding.records import PoolRecord
from lookahead_cli.decoding.tree import TokenTree
from lookahead_cli.decoding.window import JacobiWindow


class LookaheadProposer:
    """Guesses with a window of W columns and a pool of N-grams, at most G candidates a step.

    Args:
        prompt_ids: The whole prompt; its n-grams start the pool, its tokens fill the window.
        window: The 2D window.
        pool: The pool; it may hold n-grams of earlier turns.
    """

    def __init__(self, prompt_ids: Sequence[int], window: JacobiWindow, pool: NGramPool) -> None:
        self.window = window
        self.pool = pool
        self._recent = list(prompt_ids[-(pool.ngram_size - 1) :])
        self._branch = PoolBranch([])
        self._changes = pool.insert_text(prompt_ids, "prompt")

    def propose(self, tree: TokenTree) -> None:
        """Hang the pool's candidates for the current token, and the window, on the root."""
        self._branch = PoolBranch(self.pool.candidates(tree.tokens[0]))
        self._branch.grow(tree)
        self.window.grow(tree)

    def observe(self, observation: Observation) -> Findings:
        """Collect an n-gram a column and one an emitted token, and shift the window."""
        candidates = self._branch.judge(observation)
        outputs = self.window.outputs(observation.readout.choices)
        window = self.window.record(outputs)
        changes, self._changes = self._changes, []
        changes += self.pool.insert_all(self.window.ngrams(outputs), "window", observation.step)
        # After the window's guesses, so that what the text really said is the newest of its key.
        changes += self.pool.insert_text([*self._recent, *observation.emitted], "output", observation.step)
        self._recent = [*self._recent, *observation.emitted][-(self.pool.ngram_size - 1) :]
        self.window.shift(observation.emitted[-1], outputs)
        pool = PoolRecord(size=len(self.pool), keys=self.pool.keys, changes=tuple(changes))
        return Findings(candidates=candidates, window=window, pool=pool)
