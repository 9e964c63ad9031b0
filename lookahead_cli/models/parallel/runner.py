"""A runner that feeds this rank's part of each tree, and a reader that has the answers of all ranks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from lookahead_cli.decoding.records import Choice
from lookahead_cli.decoding.runner import Readout
from lookahead_cli.decoding.sampling import Sampler
from lookahead_cli.decoding.tree import ROOT, TokenTree
from lookahead_cli.errors import UnsupportedModelError
from lookahead_cli.models.parallel.ranks import Ranks
from lookahead_cli.models.parallel.split import owners_of, split
from lookahead_cli.models.runner import TransformersRunner


@dataclass(frozen=True, slots=True)
class Share:
    """What this rank fed of a step's tree.

    Attributes:
        logits: (Q, V) after each of the rank's nodes.
        tree: These nodes as a tree.
        nodes: Their indices in the whole tree.
        owners: For each node of the whole tree, the rank whose answer counts.
    """

    logits: torch.Tensor
    tree: TokenTree
    nodes: tuple[int, ...]
    owners: tuple[int, ...]


class ParallelRunner:
    """One model on every rank; each feeds a part of the tree, and all know the whole text.

    Accepted tokens that another rank fed are missing in this rank's KV cache. They are fed as plain text in
    front of the next step's root.

    Args:
        alone: The model of this rank.
        ranks: The others.

    Attributes:
        alone: The model of this rank, for work that is not shared.
        ids: The text; the KV cache holds it but for its last few tokens.
        whole_nodes: Nodes of all trees so far.
        fed_nodes: What each rank fed for them, tokens that it fed again included.
        fed_again: The accepted tokens among these.
    """

    def __init__(self, alone: TransformersRunner, ranks: Ranks) -> None:
        if alone.position_limit != alone.context_length:
            raise UnsupportedModelError(
                "This model's positions depend on the length of a pass, which differs from rank to rank.",
                "Run it without --parallel.",
            )
        self.alone = alone
        self.model = alone.model
        self.device = alone.device
        self.ids: list[int] = []
        self.whole_nodes = 0
        self.fed_nodes = [0] * ranks.size
        self.fed_again = [0] * ranks.size
        self._ranks = ranks
        self._behind = [0] * ranks.size
        self._shares: list[list[int]] = []
        self._fed: TokenTree | None = None

    @property
    def fed_tokens(self) -> int:
        """Tokens that this rank fed."""
        return self.alone.fed_tokens

    @property
    def context_length(self) -> int | None:
        """Positions that the model has."""
        return self.alone.context_length

    @property
    def position_limit(self) -> int | None:
        """First position that the next tree may not feed."""
        return self.alone.context_length

    def has_room_for(self, tokens: int) -> bool:
        """True where a text of so many tokens fits the context."""
        return self.alone.has_room_for(tokens)

    def prefill(
        self,
        ids: Sequence[int],
        *,
        cancel: threading.Event | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> bool:
        """Make the KV cache hold exactly `ids`; every rank feeds the whole text."""
        whole = self.alone.prefill(ids, cancel=cancel, on_progress=on_progress)
        self.ids = list(self.alone.ids)
        self._behind = [0] * self._ranks.size
        return whole

    def forward(self, tree: TokenTree) -> Share:
        """Feed this rank's part of the tree, behind the accepted tokens that it lacks.

        Raises:
            RankLostError: A rank has ended.
            StopRun: Rank 0 has ended the run.
        """
        self._ranks.begin_step()
        self._shares = split(tree.parents, self._behind)
        self.whole_nodes += len(tree)
        for rank, share in enumerate(self._shares):
            self.fed_nodes[rank] += len(share) + self._behind[rank]
            self.fed_again[rank] += self._behind[rank]
        nodes = self._shares[self._ranks.rank]
        missing = self.ids[len(self.alone.ids) :]
        own = part_of(tree, nodes)
        self._fed = part_of(tree, nodes, missing) if missing else own
        logits = self.alone.forward(self._fed)[len(missing) :]
        return Share(logits, own, tuple(nodes), tuple(owners_of(self._shares, len(tree))))

    def commit(self, tree: TokenTree, nodes: Sequence[int]) -> None:
        """Keep the KV entries of `nodes`, a path from the root, as far as this rank fed it."""
        assert self._fed is not None, "a step is fed before it is kept"
        for rank, share in enumerate(self._shares):
            self._behind[rank] = sum(node not in share for node in nodes)
        rank = self._ranks.rank
        missing = len(self.ids) - len(self.alone.ids)
        places = {node: missing + place for place, node in enumerate(self._shares[rank])}
        kept = [places[node] for node in nodes if node in places]
        self.alone.commit(self._fed, [*range(missing), *kept])
        self.ids += [tree.tokens[node] for node in nodes]


def part_of(tree: TokenTree, nodes: Sequence[int], before: Sequence[int] = ()) -> TokenTree:
    """The `nodes` of a tree, with their ancestors among them, as a tree that stands behind tokens."""
    tokens = [*before, tree.tokens[0]]
    part = TokenTree(tokens[0], tree.position - len(before), merge=False)
    at: int | None = 0
    for token in tokens[1:]:
        at = part.add(at, token, ROOT)
    places = {0: at}
    for node in nodes[1:]:
        places[node] = part.add(places[tree.parents[node]], tree.tokens[node], tree.origins[node][0])
    return part


@dataclass(frozen=True, slots=True)
class ParallelReader:
    """Chooses tokens where they were fed, and tells all ranks.

    Attributes:
        sampler: How tokens are chosen from logits.
        ranks: The others.
    """

    sampler: Sampler
    ranks: Ranks

    def read(
        self, logits: Share, tree: TokenTree, text_ids: Sequence[int], emitted_before: int
    ) -> ParallelReadout:
        """The answers to the whole tree."""
        own = self.sampler.read(logits.logits, logits.tree, text_ids, emitted_before)
        # Draws and processors cost time, so only those that are asked for are made.
        one_by_one = self.sampler.uniforms is not None or self.sampler.processors is not None
        return ParallelReadout(logits, tree, own, self.ranks, one_by_one=one_by_one)


class ParallelReadout:
    """The answers of all ranks to one tree; each question is asked by all of them at once.

    Args:
        share: What this rank fed.
        tree: The whole tree.
        own: The answers to the rank's own nodes.
        ranks: The others.
        one_by_one: Make a choice when it is asked for, not all of them at the first one.
    """

    def __init__(
        self, share: Share, tree: TokenTree, own: Readout, ranks: Ranks, *, one_by_one: bool
    ) -> None:
        self._tree = tree
        self._own = own
        self._ranks = ranks
        self._owners = share.owners
        self._mine = {
            node: place for place, node in enumerate(share.nodes) if share.owners[node] == ranks.rank
        }
        self._one_by_one = one_by_one
        self._choices: list[int | None] = [None] * len(tree)
        self._details: dict[int, Choice] = {}
        self._probabilities: dict[tuple[int, int], float] = {}

    @property
    def choices(self) -> Sequence[int | None]:
        """The choices that were made so far; None where nobody asked."""
        return self._choices

    def choice(self, node: int) -> int:
        """The model's next token after `node`."""
        known = self._choices[node]
        if known is not None:
            return known
        if self._one_by_one:
            place = self._mine.get(node)
            made = self._ranks.sum([0 if place is None else self._own.choice(place)], torch.int64)[0]
            self._choices[node] = int(made)
            return int(made)
        chosen = [0] * len(self._tree)
        for mine, place in self._mine.items():
            chosen[mine] = self._own.choice(place)
        self._choices = list(self._ranks.sum(chosen, torch.int64))
        return self.choice(node)

    def detail(self, node: int) -> Choice:
        """Probabilities of the choice and the runner-up after `node`."""
        self._ask(node)
        return self._details[node]

    def probability(self, node: int, token: int) -> float:
        """Probability of `token` after `node`."""
        self._ask(node)
        known = self._probabilities.get((node, token))
        if known is None:
            place = self._mine.get(node)
            share = 0.0 if place is None else self._own.probability(place, token)
            known = self._probabilities[node, token] = self._ranks.sum([share])[0]
        return known

    def _ask(self, node: int) -> None:
        """Learn in one exchange what a record may say of a node: its detail, and its children's chances."""
        if node in self._details:
            return
        choice = self.choice(node)
        children = [at for at, parent in enumerate(self._tree.parents) if parent == node]
        guesses = sorted({self._tree.tokens[child] for child in children})
        answers = [0.0] * (3 + len(guesses))
        place = self._mine.get(node)
        if place is not None:
            detail = self._own.detail(place)
            answers = [detail.probability, float(detail.runner_up), detail.runner_up_probability]
            answers += [self._own.probability(place, guess) for guess in guesses]
        probability, runner_up, runner_up_probability, *shares = self._ranks.sum(answers)
        self._details[node] = Choice(probability, int(runner_up), runner_up_probability)
        self._probabilities |= {(node, guess): share for guess, share in zip(guesses, shares, strict=True)}
        self._probabilities[node, choice] = probability

    def likeliest(self, count: int) -> tuple[list[list[int]], list[list[float]]]:
        """The `count` likeliest tokens after every node, and their probabilities."""
        own_tokens, own_shares = self._own.likeliest(count)
        width = len(own_tokens[0])
        tokens, shares = [0] * (width * len(self._tree)), [0.0] * (width * len(self._tree))
        for node, place in self._mine.items():
            tokens[node * width : (node + 1) * width] = own_tokens[place]
            shares[node * width : (node + 1) * width] = own_shares[place]
        all_tokens = self._ranks.sum(tokens, torch.int64)
        all_shares = self._ranks.sum(shares)
        rows = range(0, len(all_tokens), width)
        return [all_tokens[at : at + width] for at in rows], [all_shares[at : at + width] for at in rows]
