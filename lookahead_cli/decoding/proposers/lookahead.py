"""Lookahead decoding: the 2D Jacobi window and the n-gram pool on one tree (algorithm 1 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence

from lookahead_cli.decoding.pool import NGramPool
from lookahead_cli.decoding.proposers.base import Findings, Observation
from lookahead_cli.decoding.proposers.candidates import PoolBranch
from lookahead_cli.decoding.proposers.recycled import RecycledBranch
from lookahead_cli.decoding.records import PoolChange, PoolRecord
from lookahead_cli.decoding.tree import TokenTree
from lookahead_cli.decoding.window import JacobiWindow


class PooledNGrams:
    """The pool and its branch: candidates for the current token, and what is collected from every step.

    Args:
        pool: The pool; it may hold n-grams of earlier turns.
        prompt_ids: The whole prompt.
        most: Most candidates of a step, the newest; 0 only collects.
        keeps_text: Put the n-grams of the prompt and of the output into the pool.
    """

    def __init__(self, pool: NGramPool, prompt_ids: Sequence[int], *, most: int, keeps_text: bool) -> None:
        self.pool = pool
        self._most = most
        self.branch = PoolBranch([])
        self._keeps_text = keeps_text
        self._recent = list(prompt_ids[-(pool.ngram_size - 1) :])
        pool.start_run()
        self._changes = pool.insert_text(prompt_ids, "prompt") if keeps_text else []

    def grow(self, tree: TokenTree) -> None:
        """Hang the candidates for the current token on the root."""
        self.branch = PoolBranch(self.pool.candidates(tree.tokens[0])[: self._most])
        self.branch.grow(tree)

    def collect(
        self, columns: Sequence[tuple[int, Sequence[int]]], emitted: Sequence[int], step: int
    ) -> PoolRecord:
        """Take in an n-gram a window column, and one an emitted token."""
        changes: list[PoolChange]
        changes, self._changes = self._changes, []
        changes += self.pool.insert_all(columns, "window", step)
        if self._keeps_text:
            # After the window's guesses, so that what the text really said is the newest of its key.
            text = [*self._recent, *emitted]
            changes += self.pool.insert_text(text, "output", step)
            self._recent = text[-(self.pool.ngram_size - 1) :]
        return PoolRecord(size=len(self.pool), keys=self.pool.keys, changes=tuple(changes))


class LookaheadProposer:
    """Guesses from a window, an n-gram pool, and recycled successors; each may be missing.

    Args:
        window: The 2D window of W columns.
        pooled: The pool of N-grams, at most G candidates a step.
        recycled: What earlier steps saw, within a budget of nodes.
    """

    def __init__(
        self, window: JacobiWindow | None, pooled: PooledNGrams | None, recycled: RecycledBranch | None
    ) -> None:
        self._window = window
        self._pooled = pooled
        self._recycled = recycled

    def propose(self, tree: TokenTree) -> None:
        """Hang the pool's candidates, the window, and the likeliest paths on the root."""
        for branch in (self._pooled, self._window, self._recycled):
            if branch is not None:
                branch.grow(tree)

    def observe(self, observation: Observation) -> Findings:
        """Collect an n-gram a column and one an emitted token, and move the window on."""
        candidates = () if self._pooled is None else self._pooled.branch.judge(observation)
        window, columns = None, []
        if self._window is not None:
            outputs = self._window.outputs(observation.readout.choice)
            window = self._window.record(outputs)
            columns = self._window.ngrams(outputs)
            self._window.shift(observation.emitted[-1], outputs)
        pool = None
        if self._pooled is not None:
            pool = self._pooled.collect(columns, observation.emitted, observation.step)
        if self._recycled is not None:
            candidates += self._recycled.observe(observation)
        return Findings(candidates=candidates, window=window, pool=pool)
