"""Prompts by ways of decoding: what `bench` and `compare` both run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer

from lookahead_cli.cli.options import ModelOptions, SettingOptions
from lookahead_cli.decoding.config import LookaheadConfig, Method
from lookahead_cli.errors import InputError, UsageError

if TYPE_CHECKING:
    from lookahead_cli.cli.benchmark import Measurement, Result
    from lookahead_cli.cli.prompts import Prompt, PromptStyle
    from lookahead_cli.models.language_model import LanguageModel

Repeats = Annotated[
    int,
    typer.Option(
        "--repeats",
        metavar="TIMES",
        help="Runs of each prompt and setting, alternately; the median counts.",
        rich_help_panel="Decoding",
    ),
]
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
class Matrix:
    """What is measured.

    Attributes:
        model: Which model, and where.
        prefer: What `--dtype auto` means on a CPU that has both.
        prompts: The prompts.
        style: How they are fed.
        configs: The ways of decoding, greedy first.
        repeats: Runs of each.
    """

    model: ModelOptions
    prefer: Literal["float32", "bfloat16"]
    prompts: Sequence[Prompt]
    style: PromptStyle
    configs: Sequence[LookaheadConfig]
    repeats: int

    def run(self) -> tuple[LanguageModel, list[Result], bool]:
        """Load the model and measure.

        Returns:
            The model; the results of the prompts that were finished before Ctrl+C, maybe none; and whether
            all were.
        """
        from lookahead_cli.cli.benchmark import Result, measure, warm_up
        from lookahead_cli.cli.console import StderrProgress, note
        from lookahead_cli.cli.live import load_models
        from lookahead_cli.cli.prompts import encode
        from lookahead_cli.trace.events import Progress

        with StderrProgress() as report:
            report(Progress("importing torch and transformers"))
            largest = max(self.configs, key=lambda config: config.nodes_per_step)
            model, draft = load_models(self.model, self.prefer, largest, report)
            encoded = [(prompt.name, encode(model, prompt, self.style)) for prompt in self.prompts]
            done: list[list[Measurement]] = []
            finished = False
            try:
                report(Progress("warming up"))
                warm_up(model, encoded[0][1], self.configs, draft)
                for index, (name, prompt_ids) in enumerate(encoded):
                    report(Progress(f"measuring {name}", index, len(encoded), "prompts"))
                    done.append(list(measure(model, name, prompt_ids, self.configs, self.repeats, draft)))
                finished = True
            except KeyboardInterrupt:
                pass
        if model.remark is not None:
            note(model.remark)
        columns = zip(*done, strict=True)
        results = [
            Result(config, tuple(column)) for config, column in zip(self.configs, columns, strict=False)
        ]
        return model, results, finished


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


def prompt_files(names: Sequence[str] | None) -> list[str]:
    """The prompt files: each name, and what a folder holds, sorted; without names, ./examples.

    Raises:
        InputError: A folder is empty.
        UsageError: Nothing was named and there is no ./examples.
    """
    if not names:
        if not Path("examples").is_dir():
            raise UsageError("There is no ./examples folder here.", "Name prompt files, or a folder of them.")
        names = ["examples"]
    files: list[str] = []
    for name in names:
        folder = Path(name)
        if not folder.is_dir():
            files.append(name)
            continue
        inside = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
        if not inside:
            raise InputError(f"The folder '{name}' holds no files.", "Name a folder of prompts.")
        files.extend(str(path) for path in inside)
    return files


def check_repeats(repeats: int) -> None:
    """Refuse a number of runs that measures nothing."""
    if repeats < 1:
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
