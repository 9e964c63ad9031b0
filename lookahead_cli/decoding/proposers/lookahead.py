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
        prompt_ids: The whole prompt.
        pool: The pool; it may hold n-grams of earlier turns.
        window: The 2D window, None to do without.
        pools_text: Put the n-grams of the prompt and of the output into the pool.
    """

    def __init__(
        self, prompt_ids: Sequence[int], pool: NGramPool, window: JacobiWindow | None, *, pools_text: bool
    ) -> None:
        self.window = window
        self.pool = pool
        self._pools_text = pools_text
        self._recent = list(prompt_ids[-(pool.ngram_size - 1) :])
        self._branch = PoolBranch([])
        pool.start_run()
        self._changes = pool.insert_text(prompt_ids, "prompt") if pools_text else []

    def propose(self, tree: TokenTree) -> None:
        """Hang the pool's candidates for the current token, and the window, on the root."""
        self._branch = PoolBranch(self.pool.candidates(tree.tokens[0]))
        self._branch.grow(tree)
        if self.window is not None:
            self.window.grow(tree)

    def observe(self, observation: Observation) -> Findings:
        """Collect an n-gram a column and one an emitted token, and shift the window."""
        candidates = self._branch.judge(observation)
        changes, self._changes = self._changes, []
        window = None
        if self.window is not None:
            outputs = self.window.outputs(observation.readout.choice)
            window = self.window.record(outputs)
            changes += self.pool.insert_all(self.window.ngrams(outputs), "window", observation.step)
            self.window.shift(observation.emitted[-1], outputs)
        if self._pools_text:
            # After the window's guesses, so that what the text really said is the newest of its key.
            text = [*self._recent, *observation.emitted]
            changes += self.pool.insert_text(text, "output", observation.step)
            self._recent = text[-(self.pool.ngram_size - 1) :]
        pool = PoolRecord(size=len(self.pool), keys=self.pool.keys, changes=tuple(changes))
        return Findings(candidates=candidates, window=window, pool=pool)
