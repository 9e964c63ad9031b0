"""How many tokens and rounds fit the time, estimated from a short run in every way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from lookahead_cli.cli.measuring.ways import Run, Way
from lookahead_cli.trace.words import counted

WANTED_TOKENS = 128
WANTED_ROUNDS = 5
_FEWEST_TOKENS = 16
_TRIAL_TOKENS = 16
# Prompts differ: some are slower than the one that was tried.
_MARGIN = 1.2


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured.

    Attributes:
        max_new_tokens: Most tokens of a run.
        rounds: How often each prompt is decoded in each way.
        seconds: What that takes, about.
    """

    max_new_tokens: int
    rounds: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Cost:
    """What a round costs.

    Attributes:
        fixed: Seconds to read all prompts, in every way.
        per_token: Seconds of one more token of every prompt, in every way.
    """

    fixed: float
    per_token: float

    def seconds(self, tokens: int) -> float:
        """Seconds of a round of so many tokens a prompt."""
        return self.fixed + tokens * self.per_token


def cost_of(ways: Sequence[Way], prompts: Sequence[Sequence[int]]) -> Cost:
    """Decode a little of a prompt of middle length in every way, and estimate a round from it."""
    middle = sorted(prompts, key=len)[len(prompts) // 2]
    runs = [way.run(middle, _TRIAL_TOKENS) for way in ways]
    longer = mean(len(prompt) for prompt in prompts) / len(middle)
    fixed = len(prompts) * longer * sum(run.first_seconds for run in runs)
    per_token = len(prompts) * sum(_seconds_per_token(run) for run in runs)
    return Cost(_MARGIN * fixed, _MARGIN * per_token)


def plan(cost: Cost, tokens: int | None, rounds: int | None, budget: float) -> Plan:
    """What fits the time.

    Args:
        cost: Of a round.
        tokens: What was asked for; None takes what fits once, at most `WANTED_TOKENS`.
        rounds: What was asked for; None takes what fits, at least 1 and at most `WANTED_ROUNDS`.
        budget: Seconds.
    """
    if tokens is None:
        share = budget / (rounds or 1)
        fitting = (share - cost.fixed) / cost.per_token if cost.per_token else WANTED_TOKENS
        tokens = int(min(WANTED_TOKENS, max(_FEWEST_TOKENS, fitting // 8 * 8)))
    a_round = cost.seconds(tokens)
    if rounds is None:
        rounds = int(min(WANTED_ROUNDS, max(1, budget // a_round))) if a_round else WANTED_ROUNDS
    return Plan(tokens, rounds, rounds * a_round)


def words(chosen: Plan, prompts: int, ways: int) -> str:
    """What was chosen, and what changes it."""
    return (
        f"{counted(prompts, 'prompt')}, {counted(ways, 'way')}, at most {chosen.max_new_tokens} tokens, "
        f"{counted(chosen.rounds, 'round')}: {about(chosen.seconds)}. "
        "Chosen to fit --minutes; --max-new-tokens and --repeats set them."
    )


def time_left(chosen: Plan, elapsed: float, done: int, whole: int) -> str:
    """What is left, for the end of a line of progress; empty where nothing tells it yet."""
    left = elapsed / done * (whole - done) if done else chosen.seconds
    return f", {about(left)} left" if left else ""


def about(seconds: float) -> str:
    """A time for people: `about 40 seconds`, `about 3 minutes`."""
    if seconds < 90:
        return f"about {counted(max(1, round(seconds)), 'second')}"
    return f"about {round(seconds / 60)} minutes"


def _seconds_per_token(run: Run) -> float:
    return run.seconds / run.later_tokens if run.later_tokens else run.first_seconds
