"""Measures ways of decoding on the same prompts, in rounds.

In a round every prompt is decoded in every way, one after the other, so that a machine that slows down does
so for all of them; who begins changes from round to round. A short run before it all is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import median

from lookahead_cli.cli.measuring.ways import PHASES, Run, Way

_WARM_UP_TOKENS = 4


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
    """One prompt decoded in one way.

    Attributes:
        prompt: Name of the prompt.
        runs: One a round; steps and ids are the same in all.
        difference: Where the ids first leave greedy's, None where all are equal.
    """

    prompt: str
    runs: tuple[Run, ...]
    difference: Difference | None = None

    @property
    def output_ids(self) -> tuple[int, ...]:
        """Emitted ids."""
        return self.runs[0].output_ids

    @property
    def steps(self) -> int:
        """Decoding steps."""
        return self.runs[0].steps

    @property
    def nodes(self) -> int:
        """Nodes fed, over all steps."""
        return self.runs[0].nodes

    @property
    def seconds(self) -> float:
        """Decode seconds after the first step, the median of the rounds."""
        return median(run.seconds for run in self.runs)

    @property
    def ids_equal(self) -> bool:
        """True where the ids are greedy's."""
        return self.difference is None

    @property
    def compression_ratio(self) -> float:
        """Emitted tokens / steps."""
        return len(self.output_ids) / self.steps

    def speedup(self, reference: Measurement) -> float | None:
        """The reference's seconds a token / these, median over the rounds; None for a text of one step.

        Where both texts are of one length, as equal ids are, it is the ratio of the seconds.
        """
        pairs = zip(self.runs, reference.runs, strict=False)
        ratios = [
            (other.seconds / other.later_tokens) / (run.seconds / run.later_tokens)
            for run, other in pairs
            if run.later_tokens and other.later_tokens and run.seconds
        ]
        return median(ratios) if ratios else None


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure of several rounds.

    Attributes:
        median: The middle one.
        least: The least.
        most: The most.
    """

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread | None:
        """The spread of values, None of none."""
        return cls(median(values), min(values), max(values)) if values else None


@dataclass(frozen=True, slots=True)
class Result:
    """All prompts in one way.

    Attributes:
        way: How they were decoded.
        measurements: One a prompt.
    """

    way: Way
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
    def rounds(self) -> int:
        """How often each prompt was decoded."""
        return min(len(each.runs) for each in self.measurements)

    @property
    def tokens_per_second(self) -> Spread | None:
        """Tokens after the first step's / their seconds, over all prompts, by round; None where none came."""
        return Spread.of(self._rates())

    @property
    def first_seconds(self) -> float:
        """Seconds to the first token, median over prompts and rounds."""
        return median(run.first_seconds for each in self.measurements for run in each.runs)

    @property
    def peak_bytes(self) -> int:
        """Most memory of any run."""
        return max(run.peak_bytes for each in self.measurements for run in each.runs)

    @property
    def phase_milliseconds(self) -> dict[str, float]:
        """Milliseconds of a step by phase, median over the rounds; empty where nobody tells them."""
        if not self.measurements[0].runs[0].phases:
            return {}
        return {
            phase: 1000
            * median(
                sum(each.runs[index].phases[phase] for each in self.measurements) / self.steps
                for index in range(self.rounds)
            )
            for phase in PHASES
        }

    @property
    def equal(self) -> int:
        """Prompts whose ids are greedy's, every one."""
        return sum(each.ids_equal for each in self.measurements)

    def speedup(self, reference: Result) -> Spread | None:
        """These tokens a second / the reference's, by round."""
        pairs = zip(self._rates(), reference._rates(), strict=False)
        return Spread.of([mine / theirs for mine, theirs in pairs if theirs])

    def prompt_speedups(self, reference: Result) -> list[float]:
        """The speedup of each prompt; those whose text is one step are left out."""
        pairs = zip(self.measurements, reference.measurements, strict=True)
        ratios = (mine.speedup(theirs) for mine, theirs in pairs)
        return [ratio for ratio in ratios if ratio is not None]

    def _rates(self) -> list[float]:
        rates = []
        for index in range(self.rounds):
            runs = [each.runs[index] for each in self.measurements]
            tokens, seconds = sum(run.later_tokens for run in runs), sum(run.seconds for run in runs)
            if tokens and seconds:
                rates.append(tokens / seconds)
        return rates


def warm_up(ways: Sequence[Way], prompt_ids: Sequence[int]) -> None:
    """Run a few uncounted tokens in every way: the first pass of a width pays for memory and kernels."""
    for way in ways:
        way.run(prompt_ids, _WARM_UP_TOKENS)


@dataclass(frozen=True, slots=True)
class Measured:
    """One run, as it came.

    Attributes:
        round: Which round, from 0.
        prompt: Which prompt, from 0.
        way: Which way, from 0.
        run: The run.
    """

    round: int
    prompt: int
    way: int
    run: Run


def measure(
    ways: Sequence[Way],
    prompts: Sequence[Sequence[int]],
    max_new_tokens: int,
    rounds: int,
    on_prompt: Callable[[int, int], bool] = lambda round, prompt: True,
) -> Iterator[Measured]:
    """Decode every prompt in every way, in rounds.

    Args:
        ways: The ways.
        prompts: The prompts' ids.
        max_new_tokens: Most tokens of a run.
        rounds: How often.
        on_prompt: Called before each prompt with the round and the prompt; False ends it all.

    Yields:
        Each run.
    """
    for index in range(rounds):
        for prompt, ids in enumerate(prompts):
            if not on_prompt(index, prompt):
                return
            for place in range(len(ways)):
                way = (place + index) % len(ways)
                yield Measured(index, prompt, way, ways[way].run(ids, max_new_tokens))


def results_of(ways: Sequence[Way], names: Sequence[str], measured: Sequence[Measured]) -> list[Result]:
    """What the runs say of each way, greedy first among them.

    A round that was cut short counts only where it is the first; then its complete prompts do.

    Args:
        ways: The ways; the others are compared with the first.
        names: The prompts' names.
        measured: The runs, maybe none.
    """
    runs: dict[tuple[int, int], list[Run]] = {}
    for each in measured:
        runs.setdefault((each.prompt, each.way), []).append(each.run)
    whole = [prompt for prompt in range(len(names)) if all((prompt, way) in runs for way in range(len(ways)))]
    if not whole:
        return []
    rounds = min(len(runs[prompt, way]) for prompt in whole for way in range(len(ways)))
    return [
        Result(
            each,
            tuple(
                Measurement(
                    names[prompt],
                    tuple(runs[prompt, way][:rounds]),
                    _difference(runs[prompt, 0][0], runs[prompt, way][0]),
                )
                for prompt in whole
            ),
        )
        for way, each in enumerate(ways)
    ]


def _difference(greedy: Run, run: Run) -> Difference | None:
    expected, got = greedy.output_ids, run.output_ids
    if expected == got:
        return None
    pairs = enumerate(zip_longest(expected, got))
    position, (wanted, found) = next((at, pair) for at, pair in pairs if pair[0] != pair[1])
    detail = greedy.details[position] if position < len(greedy.details) else None
    return Difference(position, wanted, found, None if detail is None else detail.logit_gap)
