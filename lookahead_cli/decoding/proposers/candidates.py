"""The verification branch: pool candidates as a trie on the root, and what became of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lookahead_cli.decoding.pool import NGram
from lookahead_cli.decoding.proposers.base import Observation
from lookahead_cli.decoding.records import Candidate, Origin
from lookahead_cli.decoding.tree import TokenTree

Fed = tuple[NGram, tuple[int, ...]]
"""A continuation and the nodes that hold its tokens; fewer where the context ends."""


class PoolBranch:
    """Candidates of one step.

    Args:
        ngrams: Continuations of the current token.
    """

    def __init__(self, ngrams: Sequence[NGram]) -> None:
        self._ngrams = ngrams
        self._fed: list[Fed] = []

    def grow(self, tree: TokenTree) -> None:
        """Hang each candidate on the root; common prefixes merge."""
        self._fed = []
        for ngram in self._ngrams:
            is_draft = ngram.source == "draft"
            origin = Origin("draft" if is_draft else "pool", source=ngram.source, born=ngram.born)
            path: list[int] = []
            node: int | None = 0
            for token in ngram.tokens:
                node = tree.add(node, token, origin)
                if node is None:
                    break
                path.append(node)
            self._fed.append((ngram, tuple(path)))

    def judge(self, observation: Observation) -> tuple[Candidate, ...]:
        """Say of each candidate how far the model agreed, and what it wanted instead."""
        return judge(self._fed, observation)


def judge(fed: Iterable[Fed], observation: Observation) -> tuple[Candidate, ...]:
    """Say of each continuation how far the model agreed, and what it wanted instead."""
    walked = frozenset(observation.path)
    return tuple(_judge_one(ngram, nodes, walked, observation) for ngram, nodes in fed)


def _judge_one(
    ngram: NGram, nodes: tuple[int, ...], walked: frozenset[int], observation: Observation
) -> Candidate:
    matched = next((depth for depth, node in enumerate(nodes) if node not in walked), len(nodes))
    if matched == len(nodes):
        return Candidate(ngram.tokens, nodes, matched, ngram.source, ngram.born)
    parent = 0 if matched == 0 else nodes[matched - 1]
    readout = observation.readout
    wanted = readout.choice(parent)
    return Candidate(
        tokens=ngram.tokens,
        nodes=nodes,
        matched=matched,
        source=ngram.source,
        born=ngram.born,
        wanted=wanted,
        wanted_probability=readout.probability(parent, wanted),
        got_probability=readout.probability(parent, ngram.tokens[matched]),
    )
