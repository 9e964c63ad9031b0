"""Reading choices and probabilities from a step's logits."""

from __future__ import annotations

from functools import cached_property

import torch

from lookahead_cli.decoding.records import Choice


class LogitsReadout:
    """The model's answers to one tree.

    Args:
        logits: (Q, vocabulary), of any floating type.
    """

    def __init__(self, logits: torch.Tensor) -> None:
        self.logits = logits
        self._log_normalisers: dict[int, float] = {}

    @cached_property
    def choices(self) -> list[int]:
        """The likeliest token after each node; the first index among equals, as `argmax` promises."""
        choices: list[int] = self.logits.argmax(dim=-1).tolist()
        return choices

    def _log_normaliser(self, node: int) -> float:
        known = self._log_normalisers.get(node)
        if known is None:
            known = self._log_normalisers[node] = float(self.logits[node].float().logsumexp(dim=-1))
        return known

    def probability(self, node: int, token: int) -> float:
        """Probability of `token` after `node`."""
        logit = self.logits[node, token].float() - self._log_normaliser(node)
        return min(1.0, float(logit.exp()))

    def detail(self, node: int) -> Choice:
        """Probabilities of the choice and the runner-up after `node`."""
        choice = self.choices[node]
        two = self.logits[node].topk(2).indices.tolist()
        # Among equals topk promises no order, so the choice is taken out by name.
        runner_up = next(token for token in two if token != choice)
        return Choice(self.probability(node, choice), runner_up, self.probability(node, runner_up))
