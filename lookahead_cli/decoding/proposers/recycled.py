"""Recycled successors: what earlier steps saw after the same tokens, expanded best first.

Every node that is fed, accepted or not, yields the likeliest next tokens with their probabilities for free.
They are remembered under the tokens before them (Luo et al., arXiv 2408.08696, remember them under one token
and fill a fixed tree). Where the text itself goes on from the same tokens, that is a successor too. A tree
grows by the product of probabilities along its paths: the likeliest path gets the next node, until the budget
is spent. Each kind of evidence is trusted as far as it has come true in this run.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lookahead_cli.decoding.pool import NGram, NGramPool
from lookahead_cli.decoding.proposers.base import Observation
from lookahead_cli.decoding.proposers.candidates import Fed, judge
from lookahead_cli.decoding.records import Candidate, NGramSource, Origin
from lookahead_cli.decoding.tree import TokenTree

SUCCESSORS = 8
LONGEST_SEEN = 4
LONGEST_MATCH = 6
LONGEST = max(LONGEST_SEEN, LONGEST_MATCH)
LEAST_PROBABILITY = 0.005

SEEN_FIRST = {1: 0.4, 2: 0.65, 3: 0.8, 4: 0.85}
TEXT_FIRST = {1: 0.12, 2: 0.35, 3: 0.55, 4: 0.65, 5: 0.7, 6: 0.75}
FIRST_WEIGHT = 10.0
MOST = 0.97

Kind = tuple[str, int]
"""`seen` (by the model) or `text`, and how many tokens before it matched."""


@dataclass(frozen=True, slots=True)
class Successor:
    """A token that may follow, how likely, and where and in which step it was seen."""

    token: int
    probability: float
    source: NGramSource
    born: int


class Evidence(NamedTuple):
    """Tokens that followed once, their shares, and where and in which step that was."""

    kind: Kind
    tokens: Sequence[int]
    shares: Sequence[float]
    step: int
    source: NGramSource


class Trust:
    """How far each kind of evidence has come true: hits / what it promised, from a first guess on."""

    def __init__(self, first: Mapping[Kind, float], weight: float) -> None:
        self._hits = {kind: weight * share for kind, share in first.items()}
        self._promised = dict.fromkeys(first, weight)

    def __call__(self, kind: Kind) -> float:
        """Factor on the probabilities of this kind."""
        return self._hits[kind] / self._promised[kind]

    def learn(self, kind: Kind, promised: float, hit: float) -> None:
        """Take in what a kind promised, and what came of it."""
        self._hits[kind] += hit
        self._promised[kind] += promised


class SuccessorTable:
    """Tokens that may follow, by the tokens before them.

    Args:
        trust: How far each kind of evidence is believed.
    """

    def __init__(self) -> None:
        first: dict[Kind, float] = {("seen", size): share for size, share in SEEN_FIRST.items()}
        first |= {("text", size): share for size, share in TEXT_FIRST.items()}
        self.trust = Trust(first, FIRST_WEIGHT)
        self._seen: dict[tuple[int, ...], tuple[tuple[int, ...], tuple[float, ...], int]] = {}
        self._text: dict[tuple[int, ...], tuple[int, int, NGramSource]] = {}

    def see(self, context: Sequence[int], tokens: Sequence[int], shares: Sequence[float], step: int) -> None:
        """Remember the likeliest tokens after `context`, and their probabilities."""
        entry = (tuple(tokens), tuple(shares), step)
        for size in range(1, min(LONGEST_SEEN, len(context)) + 1):
            self._seen[tuple(context[-size:])] = entry

    def extend_text(self, context: Sequence[int], token: int, step: int, source: NGramSource) -> None:
        """A text goes on with `token` after `context`."""
        for size in range(1, min(LONGEST_MATCH, len(context)) + 1):
            self._text[tuple(context[-size:])] = (token, step, source)

    def evidence(self, context: Sequence[int]) -> Iterator[Evidence]:
        """What is known after `context`: of each kind the entry with the longest match."""
        for size in range(min(LONGEST_MATCH, len(context)), 0, -1):
            found = self._text.get(tuple(context[-size:]))
            if found is not None:
                token, step, source = found
                yield Evidence(("text", size), (token,), (1.0,), step, source)
                break
        for size in range(min(LONGEST_SEEN, len(context)), 0, -1):
            entry = self._seen.get(tuple(context[-size:]))
            if entry is not None:
                yield Evidence(("seen", size), *entry, "recycled")
                break

    def successors(self, context: Sequence[int]) -> list[Successor]:
        """What may follow `context`; where kinds of evidence agree on a token, it is likelier."""
        found: dict[int, Successor] = {}
        for kind, tokens, shares, born, source in self.evidence(context):
            trust = self.trust(kind)
            for token, share in zip(tokens, shares, strict=True):
                probability = min(MOST, trust * share)
                known = found.get(token)
                if known is None:
                    found[token] = Successor(token, probability, source, born)
                else:
                    either = 1 - (1 - known.probability) * (1 - probability)
                    found[token] = Successor(token, either, known.source, known.born)
        return list(found.values())

    def learn(self, context: Sequence[int], token: int) -> None:
        """`token` followed `context`: each kind of evidence is judged by it."""
        for kind, tokens, shares, *_ in self.evidence(context):
            hit = token in tokens
            self.trust.learn(kind, sum(shares), float(hit))


class RecycledBranch:
    """Spends a budget of nodes on the likeliest paths.

    Args:
        prompt_ids: The whole prompt.
        node_budget: Nodes that are spent in a step, the root and those that others proposed too included.
        reads_text: Take what the text itself said after the same tokens as evidence too.
        earlier: N-grams of other texts, evidence too; those that a window guessed are none.
    """

    def __init__(
        self,
        prompt_ids: Sequence[int],
        node_budget: int,
        *,
        reads_text: bool = True,
        earlier: NGramPool | None = None,
    ) -> None:
        self.table = SuccessorTable()
        self._budget = node_budget
        self._reads_text = reads_text
        self._context = tuple(prompt_ids[-LONGEST:])
        self._fed: list[Fed] = []
        for ngram, source in () if earlier is None else earlier.entries():
            for end in range(1, len(ngram)) if source != "window" else ():
                self.table.extend_text(ngram[:end], ngram[end], -1, source)
        for end in range(1, len(prompt_ids)) if reads_text else ():
            self.table.extend_text(prompt_ids[max(0, end - LONGEST) : end], prompt_ids[end], -1, "prompt")

    def grow(self, tree: TokenTree) -> None:
        """Add the likeliest paths, best first."""
        contexts = {0: self._context}
        paths: dict[int, tuple[NGram, tuple[int, ...]]] = {}
        order = itertools.count()
        heap: list[tuple[float, int, int, Successor]] = []

        def look_behind(node: int, probability: float) -> None:
            for successor in self.table.successors(contexts[node]):
                likely = probability * successor.probability
                if likely >= LEAST_PROBABILITY:
                    heapq.heappush(heap, (-likely, next(order), node, successor))

        look_behind(0, 1.0)
        spent = 1
        while heap and spent < self._budget:
            negative, _, parent, successor = heapq.heappop(heap)
            origin = Origin("pool", source=successor.source, born=successor.born)
            node = tree.add(parent, successor.token, origin)
            if node is None:
                continue
            spent += 1
            # A path that goes on is shown as one candidate, with the provenance of its last token.
            tokens, nodes = ((), ()) if parent == 0 else (paths[parent][0].tokens, paths[parent][1])
            ngram = NGram((*tokens, successor.token), successor.source, successor.born)
            paths[node] = (ngram, (*nodes, node))
            contexts[node] = (*contexts[parent], successor.token)[-LONGEST:]
            look_behind(node, -negative)
        inner = {nodes[-2] for _, nodes in paths.values() if len(nodes) > 1}
        self._fed = [fed for node, fed in paths.items() if node not in inner]

    def observe(self, observation: Observation) -> tuple[Candidate, ...]:
        """Judge the evidence by the emitted tokens, then remember what this step saw."""
        candidates = judge(self._fed, observation)
        before, self._context = self._context, self._read_text(observation)
        tokens, shares = observation.readout.likeliest(SUCCESSORS)
        tree = observation.tree
        contexts: list[tuple[int, ...]] = []
        for node, parent in enumerate(tree.parents):
            context = before if parent < 0 else (*contexts[parent], tree.tokens[node])[-LONGEST:]
            contexts.append(context)
        # The walked path comes last: what the text really saw stays.
        for node in (*range(len(tree)), *observation.path):
            self.table.see(contexts[node], tokens[node], shares[node], observation.step)
        return candidates

    def _read_text(self, observation: Observation) -> tuple[int, ...]:
        context = self._context
        for token in observation.emitted:
            self.table.learn(context, token)
            if self._reads_text:
                self.table.extend_text(context, token, observation.step, "output")
            context = (*context, token)[-LONGEST:]
        return context
