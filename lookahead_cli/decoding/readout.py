"""Reading choices and probabilities from a step's logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from lookahead_cli.decoding.records import Choice
from lookahead_cli.decoding.tree import TokenTree


class Processors(Protocol):
    """Logits processors as transformers has them: ids (1, L) and scores (1, V) to scores (1, V)."""

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """The scores after all ids of the text so far."""
        ...


class LogitsReadout:
    """The model's answers to one tree; what nobody asks for is not computed.

    Args:
        logits: (Q, V), of any floating type.
        tree: The tree of Q nodes.
        text_ids: The text before the root.
        processors: Logits processors, which see the text and the path to the node; None for none.
        draw: From the probabilities (V,) after a node, and the node's depth, the token; None for the
            likeliest.
    """

    def __init__(
        self,
        logits: torch.Tensor,
        tree: TokenTree,
        text_ids: Sequence[int],
        processors: Processors | None = None,
        draw: Callable[[torch.Tensor, int], int] | None = None,
    ) -> None:
        self.logits = logits
        self._tree = tree
        self._text_ids = text_ids
        self._processors = processors
        self._draw = draw
        self._choices: list[int | None] = [None] * len(tree)
        self._scores: dict[int, torch.Tensor] = {}
        self._log_normalisers: dict[int, float] = {}

    @property
    def choices(self) -> Sequence[int | None]:
        """The choices that were made so far; None where nobody asked."""
        return self._choices

    def choice(self, node: int) -> int:
        """The model's next token after `node`; the likeliest one is the first index among equals."""
        known = self._choices[node]
        if known is not None:
            return known
        if self._draw is not None:
            drawn = self._draw(self._probabilities(node), self._tree.depths[node])
            self._choices[node] = drawn
            return drawn
        if self._processors is not None:
            likeliest = int(self.scores(node).argmax())
            self._choices[node] = likeliest
            return likeliest
        # One pass for all nodes: the first among equals is taken, which `topk` does not promise.
        self._choices = first_maxima(self.logits).tolist()
        return self.choice(node)

    def scores(self, node: int) -> torch.Tensor:
        """Logits (V,) after `node` as float32, processed."""
        known = self._scores.get(node)
        if known is None:
            known = self.logits[node].float()
            if self._processors is not None:
                ids = torch.tensor([[*self._text_ids, *self._path(node)]], device=known.device)
                known = self._processors(ids, known[None].clone())[0]
            self._scores[node] = known
        return known

    def _path(self, node: int) -> list[int]:
        path = []
        while node >= 0:
            path.append(self._tree.tokens[node])
            node = self._tree.parents[node]
        return path[::-1]

    def _probabilities(self, node: int) -> torch.Tensor:
        return self.scores(node).double().softmax(dim=-1)

    def probability(self, node: int, token: int) -> float:
        """Probability of `token` after `node`."""
        scores = self.scores(node)
        normaliser = self._log_normalisers.get(node)
        if normaliser is None:
            normaliser = self._log_normalisers[node] = float(scores.logsumexp(dim=-1))
        return min(1.0, float((scores[token] - normaliser).exp()))

    def detail(self, node: int) -> Choice:
        """Probabilities of the choice and the runner-up after `node`."""
        choice = self.choice(node)
        two = self.scores(node).topk(2).indices.tolist()
        # Among equals topk promises no order, and a draw may be neither, so the choice is taken out by name.
        runner_up = next(token for token in two if token != choice)
        return Choice(self.probability(node, choice), runner_up, self.probability(node, runner_up))

    def likeliest(self, count: int) -> tuple[list[list[int]], list[list[float]]]:
        """The `count` likeliest tokens after every node, before any processor, and their probabilities."""
        values, tokens = _highest(self.logits, min(count, self.logits.shape[-1]))
        shares = (values.float() - self.logits.logsumexp(dim=-1, keepdim=True).float()).exp()
        return tokens.tolist(), shares.tolist()


# A row's maximum is found quickly, its place slowly: so first the highest of each block, then inside one.
_BLOCK = 64


def first_maxima(logits: torch.Tensor) -> torch.Tensor:
    """Index of the highest of each row (Q, V); the first among equals."""
    if logits.shape[-1] % _BLOCK:
        return logits.argmax(dim=-1)
    blocks = logits.view(len(logits), -1, _BLOCK)
    block: torch.Tensor = blocks.amax(dim=-1).argmax(dim=-1)
    inside = blocks[torch.arange(len(logits), device=logits.device), block]
    return block * _BLOCK + inside.argmax(dim=-1)


def _highest(logits: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The `count` highest of each row (Q, V), and their indices."""
    if logits.shape[-1] % _BLOCK or logits.shape[-1] // _BLOCK < count:
        return logits.topk(count, dim=-1)
    blocks = logits.view(len(logits), -1, _BLOCK)
    # Each of the highest lies in one of the blocks whose own highest are.
    best = blocks.amax(dim=-1).topk(count, dim=-1).indices
    inside = blocks.gather(1, best[..., None].expand(-1, -1, _BLOCK)).flatten(1)
    values, places = inside.topk(count, dim=-1)
    return values, best.gather(1, places // _BLOCK) * _BLOCK + places % _BLOCK
