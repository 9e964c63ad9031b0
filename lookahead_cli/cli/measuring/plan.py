"""How many tokens and rounds fit the time, estimated from a short run in every way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from time import perf_counter

from lookahead_cli.cli.measuring.ways import Run, Way
from lookahead_cli.trace.words import counted

WANTED_TOKENS = 128
WANTED_ROUNDS = 5
_FEWEST_TOKENS = 16
_TRIAL_TOKENS = 16
_TRIALS = 2
# Prompts differ: some are slower than the one that was tried.
_MARGIN = 1.2
# Other work on the machine may begin after the estimate: so much more time than the limit is taken at most.
_PATIENCE = 1.15


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured.

    Attributes:
        max_new_tokens: Most tokens of a run.
        rounds: How often each prompt is decoded in each way, where the time allows.
        round_seconds: What one round takes, about; 0 where nobody tried.
        limit: Seconds after which no further round begins, None for no limit.
    """

    max_new_tokens: int
    rounds: int
    round_seconds: float = 0.0
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """What a round costs.

    Attributes:
        fixed: Seconds to read all prompts and to prepare the model, in every way.
        per_token: Seconds of one more token of every prompt, in every way.
    """

    fixed: float
    per_token: float

    def seconds(self, tokens: int) -> float:
        """Seconds of a round of so many tokens a prompt."""
        return self.fixed + tokens * self.per_token


def cost_of(ways: Sequence[Way], prompts: Sequence[Sequence[int]]) -> Cost:
    """Decode a little of a prompt of middle length in every way, and estimate a round from it.

    Twice, and the quicker one counts: what else the machine does can only slow a run down.
    """
    middle = sorted(prompts, key=len)[len(prompts) // 2]
    longer = mean(len(prompt) for prompt in prompts) / len(middle)
    fixed, per_token = 0.0, 0.0
    for way in ways:
        trials = [_trial(way, middle) for _ in range(_TRIALS)]
        first, later, outside = (min(column) for column in zip(*trials, strict=True))
        fixed += longer * first + outside
        per_token += later
    whole = _MARGIN * len(prompts)
    return Cost(whole * fixed, whole * per_token)


def plan(cost: Cost, tokens: int | None, rounds: int | None, budget: float) -> Plan:
    """What fits the time.

    Args:
        cost: Of a round.
        tokens: What was asked for; None takes what fits once, at most `WANTED_TOKENS`.
        rounds: What was asked for; None takes up to `WANTED_ROUNDS`, as long as the next one fits.
        budget: Seconds.
    """
    if tokens is None:
        share = budget / (rounds or 1)
        fitting = (share - cost.fixed) / cost.per_token if cost.per_token else WANTED_TOKENS
        tokens = int(min(WANTED_TOKENS, max(_FEWEST_TOKENS, fitting // 8 * 8)))
    if rounds is None:
        return Plan(tokens, WANTED_ROUNDS, cost.seconds(tokens), budget)
    return Plan(tokens, rounds, cost.seconds(tokens))


def words(chosen: Plan, prompts: int, ways: int) -> str:
    """What was chosen, and what changes it."""
    rounds = counted(chosen.rounds, "round")
    if chosen.limit is not None:
        rounds = f"up to {rounds}, as many as fit {chosen.limit / 60:g} minutes"
    return (
        f"{counted(prompts, 'prompt')}, {counted(ways, 'way')}, at most {chosen.max_new_tokens} tokens, "
        f"{rounds}; a round takes {about(chosen.round_seconds)}. "
        "--max-new-tokens, --repeats and --minutes change that."
    )


def time_left(chosen: Plan, elapsed: float, done: int, whole: int) -> str:
    """What is left, for the end of a line of progress; empty where nothing tells it yet."""
    left = elapsed / done * (whole - done) if done else chosen.rounds * chosen.round_seconds
    if chosen.limit is not None:
        left = min(left, max(1.0, chosen.limit - elapsed))
    return f", {about(left)} left" if left else ""


def why_it_ends(chosen: Plan, elapsed: float, rounds: int, prompts: int, whole: int) -> str | None:
    """Why nothing more is measured, None where the next prompt is.

    Args:
        chosen: The plan.
        elapsed: Seconds since the first round began.
        rounds: Rounds that are done.
        prompts: Prompts that are done in the round that runs.
        whole: Prompts of a round.
    """
    if chosen.limit is None or not rounds + prompts:
        return None
    if elapsed > _PATIENCE * chosen.limit:
        if rounds:
            return f"Round {rounds + 1} takes longer than it should, so it is left out."
        return f"The time is up after {counted(prompts, 'prompt')} of {whole}; the others are left out."
    if rounds and not prompts and elapsed * (rounds + 1) / rounds > chosen.limit:
        return f"Round {rounds + 1} would not end in time, so it is left out."
    return None


def about(seconds: float) -> str:
    """A time for people: `about 40 seconds`, `about 3 minutes`."""
    if seconds < 90:
        return f"about {counted(max(1, round(seconds)), 'second')}"
    return f"about {round(seconds / 60)} minutes"


def _trial(way: Way, prompt: Sequence[int]) -> tuple[float, float, float]:
    """Seconds to the first token, of each later one, and beside the clock, such as to prepare the model."""
    began = perf_counter()
    run = way.run(prompt, _TRIAL_TOKENS)
    outside = perf_counter() - began - run.first_seconds - run.seconds
    return run.first_seconds, _seconds_per_token(run), max(0.0, outside)


def _seconds_per_token(run: Run) -> float:
    return run.seconds / run.later_tokens if run.later_tokens else run.first_seconds
