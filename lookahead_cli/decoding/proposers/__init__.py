"""Proposers: one small module for each way of guessing, all behind one seam."""

from __future__ import annotations

from collections.abc import Sequence

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.pool import NGramPool
from lookahead_cli.decoding.proposers.base import Findings, Observation, Proposer
from lookahead_cli.decoding.proposers.greedy import GreedyProposer
from lookahead_cli.decoding.proposers.lookahead import LookaheadProposer
from lookahead_cli.decoding.window import JacobiWindow

__all__ = ["Findings", "GreedyProposer", "LookaheadProposer", "Observation", "Proposer", "make_proposer"]


def make_proposer(
    config: LookaheadConfig, prompt_ids: Sequence[int], pool: NGramPool | None = None
) -> Proposer:
    """The proposer that `config.method` names.

    Args:
        config: Settings of the run.
        prompt_ids: The whole prompt.
        pool: N-grams of earlier turns, None to start with the prompt's alone.
    """
    if config.method == "greedy":
        return GreedyProposer()
    window = JacobiWindow(config.window_size, config.ngram_size, prompt_ids, config.seed)
    if pool is None:
        pool = NGramPool(config.ngram_size, config.guess_set_size)
    return LookaheadProposer(prompt_ids, window, pool)
