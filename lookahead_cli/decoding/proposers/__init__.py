"""Proposers: one small module for each way of guessing, all behind one seam."""

from __future__ import annotations

from collections.abc import Sequence

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.pool import NGramPool
from lookahead_cli.decoding.proposers.base import Findings, Observation, Proposer
from lookahead_cli.decoding.proposers.draft import Draft, DraftProposer
from lookahead_cli.decoding.proposers.greedy import GreedyProposer
from lookahead_cli.decoding.proposers.jacobi import JacobiProposer
from lookahead_cli.decoding.proposers.lookahead import LookaheadProposer, PooledNGrams
from lookahead_cli.decoding.proposers.prompt_lookup import PromptLookupProposer
from lookahead_cli.decoding.proposers.recycled import RecycledBranch
from lookahead_cli.decoding.verify import Rules, pool_nodes_only, without_bonus
from lookahead_cli.decoding.window import JacobiWindow
from lookahead_cli.errors import UsageError

__all__ = [
    "Draft",
    "DraftProposer",
    "Findings",
    "GreedyProposer",
    "JacobiProposer",
    "LookaheadProposer",
    "Observation",
    "PromptLookupProposer",
    "Proposer",
    "make_proposer",
    "rules_of",
]


def make_proposer(
    config: LookaheadConfig,
    prompt_ids: Sequence[int],
    pool: NGramPool | None = None,
    draft: Draft | None = None,
) -> Proposer:
    """The proposer that `config.method` names.

    Args:
        config: Settings of the run.
        prompt_ids: The whole prompt.
        pool: N-grams of earlier turns, None to start with the prompt's alone; methods and sources without
            one leave it.
        draft: The draft model, for method `draft`.

    Raises:
        UsageError: Method `draft` without a draft model.
    """
    match config.method:
        case "greedy":
            return GreedyProposer()
        case "jacobi":
            return JacobiProposer(prompt_ids, config.window_size, config.seed)
        case "prompt-lookup":
            return PromptLookupProposer(prompt_ids, config.ngram_size, config.window_size)
        case "draft":
            if draft is None:
                raise UsageError(
                    "The method 'draft' needs a draft model.",
                    "Name one with --draft-model, or give draft= in Python.",
                )
            return DraftProposer(draft, prompt_ids, config.window_size)
        case "lookahead-reference":
            return _lookahead(config, prompt_ids, None, ("window",))
        case "lookahead":
            return _lookahead(config, prompt_ids, pool, config.sources)


def _lookahead(
    config: LookaheadConfig, prompt_ids: Sequence[int], pool: NGramPool | None, sources: Sequence[str]
) -> LookaheadProposer:
    if pool is not None and pool.ngram_size != config.ngram_size:
        raise UsageError(
            f"The pool holds n-grams of {pool.ngram_size} tokens, and N is {config.ngram_size}.",
            "Give both the same N.",
        )
    window = pooled = recycled = None
    reads_text = "prompt" in sources
    if "window" in sources:
        window = JacobiWindow(config.window_size, config.ngram_size, prompt_ids, config.seed)
    # Without a window, the budget of nodes decides which n-grams of texts are worth their nodes.
    budgeted = window is None and "recycled" in sources
    if "recycled" in sources:
        earlier = pool if budgeted else None
        recycled = RecycledBranch(prompt_ids, config.node_budget, reads_text=reads_text, earlier=earlier)
    if pool is None and not budgeted:
        pool = NGramPool(config.ngram_size, config.guess_set_size)
    if pool is not None:
        most = 0 if budgeted else config.guess_set_size
        pooled = PooledNGrams(pool, prompt_ids, most=most, keeps_text=reads_text or budgeted)
    return LookaheadProposer(window, pooled, recycled)


def rules_of(config: LookaheadConfig) -> Rules:
    """How the tree of `config.method` is built and walked."""
    if config.method == "lookahead-reference":
        return Rules(merge=False, may_accept=without_bonus(config.ngram_size))
    return Rules(may_accept=pool_nodes_only if config.paper_strict else None)
