"""Rounds of alternating runs, what counts of them, and how they are summed up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from lookahead_cli.cli.measuring.plan import cost_of
from lookahead_cli.cli.measuring.rounds import measure, results_of, warm_up
from lookahead_cli.cli.measuring.ways import Run


@dataclass
class Timed:
    """A way with seconds of its own for each run, which remembers what it decoded."""

    method: str
    seconds: Sequence[float]
    tokens: int = 5
    decoded: list[tuple[tuple[int, ...], int]] = field(default_factory=list)

    words = "timed"
    settings: Mapping[str, Any] = field(default_factory=dict)

    def run(self, prompt_ids: Sequence[int], max_new_tokens: int) -> Run:
        seconds = self.seconds[len(self.decoded) % len(self.seconds)]
        self.decoded.append((tuple(prompt_ids), max_new_tokens))
        ids = tuple(range(self.tokens))
        return Run(ids, 1, 0.5, seconds, self.tokens, self.tokens, {}, 1000)


def test_ways_take_turns_and_another_begins_each_round() -> None:
    ways = [Timed("greedy", [1.0]), Timed("lookahead", [1.0]), Timed("jacobi", [1.0])]
    order = [(each.round, each.prompt, each.way) for each in measure(ways, [(1,), (2,)], 8, 2)]
    assert order == [
        (0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 1, 0), (0, 1, 1), (0, 1, 2),
        (1, 0, 1), (1, 0, 2), (1, 0, 0), (1, 1, 1), (1, 1, 2), (1, 1, 0),
    ]  # fmt: skip
    assert ways[1].decoded == [((1,), 8), ((2,), 8)] * 2


def test_figures_are_medians_of_the_rounds() -> None:
    greedy, quick = Timed("greedy", [4.0, 4.0, 8.0]), Timed("lookahead", [1.0, 2.0, 16.0])
    base, result = results_of([greedy, quick], ["one"], list(measure([greedy, quick], [(1,)], 8, 3)))
    rate = result.tokens_per_second
    assert rate is not None
    # Four tokens after the first step.
    assert (rate.median, rate.least, rate.most) == (2.0, 0.25, 4.0)
    speedup = result.speedup(base)
    assert speedup is not None
    assert (speedup.median, speedup.least, speedup.most) == (2.0, 0.5, 4.0)
    assert result.prompt_speedups(base) == [2.0]
    assert result.first_seconds == 0.5


def test_texts_of_other_lengths_are_compared_by_seconds_a_token() -> None:
    greedy, longer = Timed("greedy", [4.0]), Timed("lookahead", [4.0], tokens=9)
    base, result = results_of([greedy, longer], ["one"], list(measure([greedy, longer], [(1,)], 16, 1)))
    assert result.prompt_speedups(base) == [2.0]
    difference = result.measurements[0].difference
    assert difference is not None
    assert (difference.position, difference.expected, difference.got) == (5, None, 5)


@pytest.mark.parametrize(("runs", "prompts", "rounds"), [(3, 1, 1), (4, 2, 1), (7, 2, 1), (8, 2, 2)])
def test_a_round_that_was_cut_short_does_not_count(runs: int, prompts: int, rounds: int) -> None:
    ways = [Timed("greedy", [1.0]), Timed("lookahead", [1.0])]
    measured = list(measure(ways, [(1,), (2,)], 8, 2))[:runs]
    for result in results_of(ways, ["one", "two"], measured):
        assert len(result.measurements) == prompts
        assert result.rounds == rounds


def test_nothing_is_said_before_a_prompt_ran_in_every_way() -> None:
    ways = [Timed("greedy", [1.0]), Timed("lookahead", [1.0])]
    assert results_of(ways, ["one"], list(measure(ways, [(1,)], 8, 1))[:1]) == []


def test_a_round_is_estimated_from_one_prompt_of_middle_length() -> None:
    ways = [Timed("greedy", [4.0]), Timed("lookahead", [8.0])]
    warm_up(ways, (1,))
    cost = cost_of(ways, [(1,) * 10, (1,) * 20, (1,) * 30])
    assert [prompt for prompt, _ in ways[0].decoded[1:]] == [(1,) * 20] * 2
    # Three prompts, each 0.5 seconds to the first token and 1 or 2 seconds a token, and a fifth more.
    assert cost.fixed == pytest.approx(1.2 * 3 * (0.5 + 0.5), rel=0.01)
    assert cost.per_token == pytest.approx(1.2 * 3 * (1.0 + 2.0))


def test_what_a_run_takes_beside_its_clock_is_in_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 10.0, 20.0, 36.0])
    monkeypatch.setattr("lookahead_cli.cli.measuring.plan.perf_counter", lambda: next(clock))
    cost = cost_of([Timed("transformers-greedy", [4.0])], [(1,), (1,)])
    assert cost.fixed == pytest.approx(1.2 * 2 * (10.0 - 4.0))
