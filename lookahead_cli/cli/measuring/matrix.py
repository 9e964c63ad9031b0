"""Prompts by ways of decoding: what `bench` and `compare` both run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer

from lookahead_cli.cli.options import ModelOptions, SettingOptions
from lookahead_cli.decoding.config import LookaheadConfig, Method
from lookahead_cli.errors import InputError, UsageError

if TYPE_CHECKING:
    from lookahead_cli.cli.console import StderrProgress
    from lookahead_cli.cli.measuring.plan import Plan
    from lookahead_cli.cli.measuring.rounds import Measured, Result
    from lookahead_cli.cli.measuring.ways import Way
    from lookahead_cli.cli.prompts import Prompt, PromptStyle
    from lookahead_cli.models.language_model import LanguageModel

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--setting",
        "-s",
        metavar="W,N,G",
        show_default=False,
        help="Sizes of a step to measure; may be given several times.",
        rich_help_panel="Decoding",
    ),
]
_SIZED = ("lookahead", "lookahead-reference")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was measured.

    Attributes:
        model: The model.
        plan: How many tokens and rounds.
        results: One a way, greedy first; none where Ctrl+C came before the first prompt's end.
        finished: False after Ctrl+C.
    """

    model: LanguageModel
    plan: Plan
    results: list[Result]
    finished: bool


@dataclass(frozen=True, slots=True)
class Matrix:
    """What is to be measured.

    Attributes:
        model: Which model, and where.
        prefer: What `--dtype auto` means on a CPU that has both.
        prompts: The prompts.
        style: How they are fed.
        configs: The methods of ours, greedy first.
        tokens: Most tokens of a run; None takes what fits the budget.
        rounds: How often each prompt is decoded; None takes what fits the budget.
        budget: Seconds that the measuring may take, where it has a choice.
        peers: True to run the loops of transformers beside them.
    """

    model: ModelOptions
    prefer: Literal["float32", "bfloat16"]
    prompts: Sequence[Prompt]
    style: PromptStyle
    configs: Sequence[LookaheadConfig]
    tokens: int | None
    rounds: int | None
    budget: float
    peers: bool = False

    def run(self) -> Outcome:
        """Load the model and measure, until it is done or Ctrl+C comes.

        Raises:
            InputError: A prompt does not fit the model's context.
        """
        from lookahead_cli.cli.console import StderrProgress, note
        from lookahead_cli.cli.live import load_models
        from lookahead_cli.cli.measuring.plan import WANTED_TOKENS, Plan
        from lookahead_cli.cli.measuring.rounds import results_of
        from lookahead_cli.cli.prompts import encode
        from lookahead_cli.trace.events import Progress

        measured: list[Measured] = []
        plan = Plan(self.tokens or WANTED_TOKENS, self.rounds or 1)
        finished = False
        with StderrProgress() as report:
            report(Progress("importing torch and transformers"))
            largest = max(self.configs, key=lambda config: config.nodes_per_step)
            # What is measured for minutes may wait a minute for a compiler.
            options = replace(self.model, compile="on") if self.model.compile == "auto" else self.model
            model, draft = load_models(options, self.prefer, largest, report)
            prompts = [encode(model, prompt, self.style) for prompt in self.prompts]
            _check_room(self.prompts, prompts, model.context_length)
            report.clear()
            ways = self._ways(model, draft)
            try:
                plan = self._plan(ways, prompts, report)
                self._measure(ways, prompts, plan, report, measured)
                finished = True
            except KeyboardInterrupt:
                pass
        if model.remark is not None:
            note(model.remark)
        return Outcome(
            model, plan, results_of(ways, [prompt.name for prompt in self.prompts], measured), finished
        )

    def _ways(self, model: LanguageModel, draft: LanguageModel | None) -> list[Way]:
        from lookahead_cli.cli.console import note
        from lookahead_cli.cli.measuring.ways import OwnWay, PeerWay

        ways: list[Way] = [OwnWay(model, config, draft) for config in self.configs]
        if self.peers:
            from lookahead_cli.models.peers import PEERS, memory_lacking

            if lacking := memory_lacking(model):
                note(f"transformers' own loops are left out: {lacking / 1e9:.1f} GB of memory are missing.")
            else:
                ways += [PeerWay(model, method) for method in PEERS]
        return ways

    def _plan(self, ways: Sequence[Way], prompts: Sequence[Sequence[int]], report: StderrProgress) -> Plan:
        """Warm up, and find out what fits the time where that is not given."""
        from lookahead_cli.cli.measuring.plan import Plan, cost_of, plan, words
        from lookahead_cli.cli.measuring.rounds import warm_up
        from lookahead_cli.trace.events import Progress

        report(Progress("warming up"))
        warm_up(ways, prompts[0])
        if self.tokens is not None and self.rounds is not None:
            return Plan(self.tokens, self.rounds)
        from lookahead_cli.cli.console import note

        report(Progress("estimating the time"))
        chosen = plan(cost_of(ways, prompts), self.tokens, self.rounds, self.budget)
        report.clear()
        note(words(chosen, len(prompts), len(ways)))
        return chosen

    def _measure(
        self,
        ways: Sequence[Way],
        prompts: Sequence[Sequence[int]],
        plan: Plan,
        report: StderrProgress,
        measured: list[Measured],
    ) -> None:
        from lookahead_cli.cli.console import note
        from lookahead_cli.cli.measuring.plan import time_left, why_it_ends
        from lookahead_cli.cli.measuring.rounds import measure
        from lookahead_cli.trace.events import Progress

        started = time.perf_counter()
        whole = plan.rounds * len(prompts)

        def goes_on(index: int, prompt: int) -> bool:
            elapsed, done = time.perf_counter() - started, index * len(prompts) + prompt
            ending = why_it_ends(plan, elapsed, index, prompt, len(prompts))
            if ending is not None:
                report.clear()
                note(ending)
                return False
            name = self.prompts[prompt].name
            left = time_left(plan, elapsed, done, whole)
            most = f"up to {plan.rounds}" if plan.limit else plan.rounds
            of_rounds = f", round {index + 1} of {most}" if plan.rounds > 1 else ""
            report(Progress(f"measuring {name}{of_rounds}{left}", done, whole, "prompts"))
            return True

        for each in measure(ways, prompts, plan.max_new_tokens, plan.rounds, goes_on):
            measured.append(each)


def _check_room(
    prompts: Sequence[Prompt], encoded: Sequence[Sequence[int]], context_length: int | None
) -> None:
    """Refuse a prompt that leaves no room for an answer now, not after others were measured."""
    for prompt, ids in zip(prompts, encoded, strict=True):
        if context_length is not None and len(ids) >= context_length:
            raise InputError(
                f"'{prompt.name}' has {len(ids):,} tokens and the model's context holds {context_length:,}.",
                "Leave it out, or choose a model with a longer context.",
            )


def settings_of(
    settings: Sequence[str] | None, options: SettingOptions, asked: LookaheadConfig, defaults: Sequence[str]
) -> list[LookaheadConfig]:
    """What `--setting` names, and what -W, -N and -G name together, else the defaults."""
    alone = any(
        value is not None for value in (options.window_size, options.ngram_size, options.guess_set_size)
    )
    named = [_parse(text, asked) for text in settings or (() if alone else defaults)]
    return [asked, *named] if alone else named


def variants(
    methods: Sequence[str], settings: Sequence[LookaheadConfig], asked: LookaheadConfig
) -> list[LookaheadConfig]:
    """Greedy, then every method, those with a pool in every setting.

    Raises:
        UsageError: There is no such method.
    """
    configs = [replace(asked, method="greedy")]
    for method in methods:
        if method not in get_args(Method):
            raise UsageError(
                f"There is no method called '{method}'.", f"Choose one of {', '.join(get_args(Method))}."
            )
        chosen = settings if method in _SIZED else [asked]
        configs += [replace(config, method=cast("Method", method)) for config in chosen]
    return list(dict.fromkeys(configs))


def check_repeats(repeats: int | None) -> None:
    """Refuse a number of runs that measures nothing."""
    if repeats is not None and repeats < 1:
        raise UsageError(f"--repeats {repeats} cannot work.", "Give 1 or more.")


def _parse(text: str, asked: LookaheadConfig) -> LookaheadConfig:
    """A setting such as `15,5,15`."""
    try:
        width, length, guesses = (int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f"'{text}' is no setting.", "Give W,N,G as three numbers, such as 15,5,15."
        ) from None
    return replace(asked, window_size=width, ngram_size=length, guess_set_size=guesses)
