"""Prompt lookup: what followed the last tokens where they stood before (Saxena, 2023)."""

from __future__ import annotations

from collections.abc import Sequence

from lookahead_cli.decoding.pool import NGram
from lookahead_cli.decoding.proposers.base import Findings, Observation
from lookahead_cli.decoding.proposers.candidates import PoolBranch
from lookahead_cli.decoding.records import NGramSource
from lookahead_cli.decoding.tree import TokenTree


class PromptLookupProposer:
    """One chain: the tokens after the most recent earlier place of the longest possible match.

    Args:
        prompt_ids: The whole prompt.
        longest_match: Most tokens that are compared.
        length: Most tokens that are proposed.
    """

    def __init__(self, prompt_ids: Sequence[int], longest_match: int, length: int) -> None:
        self._ids: list[int] = []
        self._longest_match = longest_match
        self._length = length
        self._prompt_length = len(prompt_ids)
        # The last two places after each n-gram: the newest may be the end of the text itself.
        self._places: dict[tuple[int, ...], tuple[int, int | None]] = {}
        self._born: list[int] = []
        self._branch = PoolBranch([])
        self._extend(prompt_ids, -1)

    def _extend(self, tokens: Sequence[int], step: int) -> None:
        for token in tokens:
            self._ids.append(token)
            self._born.append(step)
            end = len(self._ids)
            for size in range(1, min(self._longest_match, end) + 1):
                key = tuple(self._ids[end - size :])
                newest = self._places.get(key)
                self._places[key] = (end, None if newest is None else newest[0])

    def _found(self) -> list[NGram]:
        for size in range(min(self._longest_match, len(self._ids)), 0, -1):
            _, before = self._places[tuple(self._ids[-size:])]
            if before is not None:
                tokens = tuple(self._ids[before : before + self._length])
                source: NGramSource = "prompt" if before < self._prompt_length else "output"
                return [NGram(tokens, source, self._born[before])]
        return []

    def propose(self, tree: TokenTree) -> None:
        """Hang the found continuation on the root."""
        self._branch = PoolBranch(self._found())
        self._branch.grow(tree)

    def observe(self, observation: Observation) -> Findings:
        """Say how far the continuation was right, and take the emitted tokens into the text."""
        candidates = self._branch.judge(observation)
        self._extend(observation.emitted, observation.step)
        return Findings(candidates=candidates)
