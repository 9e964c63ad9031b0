"""Measures lookahead decoding against greedy decoding, on the same model and the same prompts.

For each prompt greedy and every setting run one after the other, so that a machine that slows down does so
for all of them. Decode seconds alone count, prefill apart on both sides, and a short run before it all is not
counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Protocol

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.trace.events import Footer, Header, StepEvent

_WARM_UP_TOKENS = 4


class Decoder(Protocol):
    """What a measurement needs from a language model."""

    def run(
        self, prompt_ids: Sequence[int], config: LookaheadConfig
    ) -> Iterator[Header | StepEvent | Footer]:
        """Decode one prompt."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One prompt decoded in one setting.

    Attributes:
        prompt: Name of the prompt.
        output_ids: Emitted ids.
        steps: Decoding steps.
        nodes: Nodes fed, over all steps.
        seconds: Decode seconds, the median of the repeats.
        ids_equal: True where the ids are greedy's.
        time_ratio: Greedy's seconds / these seconds, both medians.
    """

    prompt: str
    output_ids: tuple[int, ...]
    steps: int
    nodes: int
    seconds: float
    ids_equal: bool = True
    time_ratio: float = 1.0

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


def warm_up(model: Decoder, prompt_ids: Sequence[int], configs: Sequence[LookaheadConfig]) -> None:
    """Run a few uncounted tokens in every setting: the first pass of a width pays for memory and kernels."""
    for config in configs:
        _run_once(model, prompt_ids, replace(config, max_new_tokens=_WARM_UP_TOKENS))


def measure(
    model: Decoder,
    prompt: str,
    prompt_ids: Sequence[int],
    configs: Sequence[LookaheadConfig],
    repeats: int,
) -> Iterator[Measurement]:
    """Decode one prompt in every setting, alternately, `repeats` times.

    Args:
        model: The model.
        prompt: Name of the prompt.
        prompt_ids: Its token ids.
        configs: The settings, greedy first: the others are compared with it.
        repeats: How often each runs.

    Yields:
        One measurement a setting, in order.
    """
    runs = [[_run_once(model, prompt_ids, config) for config in configs] for _ in range(repeats)]
    greedy, greedy_seconds = runs[0][0][0], median(run[0][0].seconds for run in runs)
    for index in range(len(configs)):
        footer, nodes = runs[0][index]
        seconds = median(run[index][0].seconds for run in runs)
        yield Measurement(
            prompt=prompt,
            output_ids=footer.output_ids,
            steps=footer.steps,
            nodes=nodes,
            seconds=seconds,
            ids_equal=footer.output_ids == greedy.output_ids,
            time_ratio=greedy_seconds / seconds,
        )


def _run_once(model: Decoder, prompt_ids: Sequence[int], config: LookaheadConfig) -> tuple[Footer, int]:
    nodes = 0
    footer = None
    for event in model.run(prompt_ids, config):
        if isinstance(event, StepEvent):
            nodes += len(event.step.nodes)
        elif isinstance(event, Footer):
            footer = event
    assert footer is not None, "a run ends with its footer"
    return footer, nodes
