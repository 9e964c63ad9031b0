"""Measures ways of decoding against greedy decoding, on the same model and the same prompts.

For each prompt greedy and every setting run one after the other, so that a machine that slows down does so
for all of them. Decode seconds alone count, prefill apart on both sides, and a short run before it all is not
counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from statistics import median
from typing import Any, Protocol

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.records import Choice
from lookahead_cli.trace.events import Footer, Header, StepEvent

_WARM_UP_TOKENS = 4


class Decoder(Protocol):
    """What a measurement needs from a language model."""

    def run(
        self, prompt_ids: Sequence[int], config: LookaheadConfig, *, draft: Any = None
    ) -> Iterator[Header | StepEvent | Footer]:
        """Decode one prompt."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where ids first leave greedy's.

    Attributes:
        position: Output position.
        expected: Greedy's token there, None where greedy ended before.
        got: The token there, None where this run ended before.
        top_two_gap: How far greedy's two highest logits lie apart there.
    """

    position: int
    expected: int | None
    got: int | None
    top_two_gap: float | None


@dataclass(frozen=True, slots=True)
class Measurement:
    """One prompt decoded in one setting.

    Attributes:
        prompt: Name of the prompt.
        output_ids: Emitted ids.
        steps: Decoding steps.
        nodes: Nodes fed, over all steps.
        seconds: Decode seconds, the median of the repeats.
        difference: Where the ids first leave greedy's, None where all are equal.
        time_ratio: Greedy's seconds / these seconds, both medians.
    """

    prompt: str
    output_ids: tuple[int, ...]
    steps: int
    nodes: int
    seconds: float
    difference: Difference | None = None
    time_ratio: float = 1.0

    @property
    def ids_equal(self) -> bool:
        """True where the ids are greedy's."""
        return self.difference is None

    @property
    def compression_ratio(self) -> float:
        """Emitted tokens / steps."""
        return len(self.output_ids) / self.steps


@dataclass(frozen=True, slots=True)
class Result:
    """All prompts in one setting.

    Attributes:
        config: The setting.
        measurements: One a prompt.
    """

    config: LookaheadConfig
    measurements: tuple[Measurement, ...]

    @property
    def tokens(self) -> int:
        """Tokens emitted, over all prompts."""
        return sum(len(each.output_ids) for each in self.measurements)

    @property
    def steps(self) -> int:
        """Decoding steps, over all prompts."""
        return sum(each.steps for each in self.measurements)

    @property
    def seconds(self) -> float:
        """Decode seconds, over all prompts."""
        return sum(each.seconds for each in self.measurements)

    @property
    def compression_ratio(self) -> float:
        """All tokens / all steps."""
        return self.tokens / self.steps

    @property
    def nodes_per_step(self) -> float:
        """Mean nodes fed in a step."""
        return sum(each.nodes for each in self.measurements) / self.steps

    @property
    def time_ratio(self) -> float:
        """Median over the prompts of greedy's seconds / these seconds."""
        return median(each.time_ratio for each in self.measurements)

    @property
    def equal(self) -> int:
        """Prompts whose ids are greedy's, every one."""
        return sum(each.ids_equal for each in self.measurements)


def warm_up(
    model: Decoder, prompt_ids: Sequence[int], configs: Sequence[LookaheadConfig], draft: Any = None
) -> None:
    """Run a few uncounted tokens in every setting: the first pass of a width pays for memory and kernels."""
    for config in configs:
        _run_once(model, prompt_ids, replace(config, max_new_tokens=_WARM_UP_TOKENS), draft)


def measure(
    model: Decoder,
    prompt: str,
    prompt_ids: Sequence[int],
    configs: Sequence[LookaheadConfig],
    repeats: int,
    draft: Any = None,
) -> Iterator[Measurement]:
    """Decode one prompt in every setting, alternately, `repeats` times.

    Args:
        model: The model.
        prompt: Name of the prompt.
        prompt_ids: Its token ids.
        configs: The settings, greedy first: the others are compared with it.
        repeats: How often each runs.
        draft: The draft model, for method `draft`.

    Yields:
        One measurement a setting, in order.
    """
    runs = [[_run_once(model, prompt_ids, config, draft) for config in configs] for _ in range(repeats)]
    greedy = runs[0][0]
    greedy_seconds = median(run[0].footer.seconds for run in runs)
    for index in range(len(configs)):
        first = runs[0][index]
        seconds = median(run[index].footer.seconds for run in runs)
        yield Measurement(
            prompt=prompt,
            output_ids=first.footer.output_ids,
            steps=first.footer.steps,
            nodes=first.nodes,
            seconds=seconds,
            difference=_difference(greedy, first),
            time_ratio=greedy_seconds / seconds,
        )


@dataclass(frozen=True, slots=True)
class _Run:
    footer: Footer
    nodes: int
    details: tuple[Choice | None, ...]


def _run_once(model: Decoder, prompt_ids: Sequence[int], config: LookaheadConfig, draft: Any) -> _Run:
    nodes = 0
    details: list[Choice | None] = []
    footer = None
    for event in model.run(prompt_ids, config, draft=draft if config.method == "draft" else None):
        if isinstance(event, StepEvent):
            nodes += len(event.step.nodes)
            details += [event.step.nodes[node].detail for node in event.step.path]
        elif isinstance(event, Footer):
            footer = event
    assert footer is not None, "a run ends with its footer"
    return _Run(footer, nodes, tuple(details))


def _difference(greedy: _Run, run: _Run) -> Difference | None:
    expected, got = greedy.footer.output_ids, run.footer.output_ids
    if expected == got:
        return None
    pairs = enumerate(zip_longest(expected, got))
    position, (wanted, found) = next((at, pair) for at, pair in pairs if pair[0] != pair[1])
    detail = greedy.details[position] if position < len(greedy.details) else None
    return Difference(position, wanted, found, None if detail is None else detail.logit_gap)
