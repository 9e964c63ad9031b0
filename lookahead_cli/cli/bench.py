"""`lookahead bench`: steps and seconds of lookahead against greedy decoding, over a set of prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookahead_cli.cli import options
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import ExitCode, InputError, UsageError

if TYPE_CHECKING:
    from lookahead_cli.cli.benchmark import Measurement, Result
    from lookahead_cli.cli.prompts import Prompt
    from lookahead_cli.models.language_model import LanguageModel

_EXAMPLES = Path("examples")
_DEFAULT_SETTINGS = ("15,5,15", "7,5,7")


def bench(
    prompts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FOLDER|FILE]...",
            show_default=False,
            help="Prompts, or folders of them. Default: ./examples.",
        ),
    ] = None,
    model: options.Model = None,
    device: options.Device = "auto",
    dtype: options.DType = "auto",
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--setting",
            "-s",
            metavar="W,N,G",
            show_default=False,
            help="A setting to measure; may be given several times. Default: 15,5,15 and 7,5,7.",
            rich_help_panel="Decoding",
        ),
    ] = None,
    window_size: options.WindowSize = None,
    ngram_size: options.NGramSize = None,
    guess_set_size: options.GuessSetSize = None,
    max_new_tokens: options.MaxNewTokens = 128,
    repeats: Annotated[
        int,
        typer.Option(
            "--repeats",
            metavar="TIMES",
            help="Runs of each prompt and setting; the median counts.",
            rich_help_panel="Decoding",
        ),
    ] = 1,
    seed: options.Seed = 0,
    chat: options.ChatOrRaw = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Write all measurements as JSON.", rich_help_panel="Output"),
    ] = False,
) -> int:
    """Measure the compression ratio and the time of lookahead decoding against greedy decoding."""
    from lookahead_cli.cli.prompts import encode, read_prompt

    spec = options.model_or_default(model)
    if repeats < 1:
        raise UsageError(f"--repeats {repeats} cannot work.", "Give 1 or more.")
    asked = LookaheadConfig(max_new_tokens=max_new_tokens, seed=seed)
    if any(value is not None for value in (window_size, ngram_size, guess_set_size)):
        alone = options.settings(
            spec, window_size, ngram_size, guess_set_size, max_new_tokens=max_new_tokens, seed=seed
        )
        configs = [alone, *(_parse(text, asked) for text in setting or ())]
    else:
        configs = [_parse(text, asked) for text in setting or _DEFAULT_SETTINGS]
    configs = list(dict.fromkeys([replace(asked, method="greedy"), *configs]))
    read = [read_prompt(file) for file in _files(prompts)]
    options.check_model(spec)
    model_in_memory = _load(spec, device, dtype, max(configs, key=_largest))
    encoded = [(prompt, encode(model_in_memory, prompt, options.prompt_style(chat))) for prompt in read]
    results, finished = _measure(model_in_memory, encoded, configs, repeats)
    if results:
        _show(model_in_memory, results, json=json)
    if not finished:
        return ExitCode.INTERRUPTED
    unequal = any(result.equal < len(result.measurements) for result in results)
    return ExitCode.MISMATCH if unequal and model_in_memory.dtype == "float32" else ExitCode.OK


def _files(names: Sequence[str] | None) -> list[str]:
    """The prompt files: each name, and what a folder holds, sorted."""
    if not names:
        if not _EXAMPLES.is_dir():
            raise UsageError("There is no ./examples folder here.", "Name prompt files, or a folder of them.")
        names = [str(_EXAMPLES)]
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


def _parse(text: str, asked: LookaheadConfig) -> LookaheadConfig:
    """A setting such as `15,5,15`."""
    try:
        width, length, guesses = (int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f"'{text}' is no setting.", "Give W,N,G as three numbers, such as 15,5,15."
        ) from None
    return replace(asked, window_size=width, ngram_size=length, guess_set_size=guesses)


def _largest(config: LookaheadConfig) -> int:
    return (config.window_size + config.guess_set_size) * (config.ngram_size - 1)


def _load(spec: str, device: str, dtype: str, config: LookaheadConfig) -> LanguageModel:
    from lookahead_cli.cli.console import StderrProgress
    from lookahead_cli.trace.events import Progress

    with StderrProgress() as report:
        report(Progress("importing torch and transformers"))
        from lookahead_cli.models.language_model import load_model

        return load_model(
            spec, device=device, dtype=dtype, prefer="bfloat16", config=config, on_progress=report
        )


def _measure(
    model: LanguageModel,
    prompts: Sequence[tuple[Prompt, tuple[int, ...]]],
    configs: Sequence[LookaheadConfig],
    repeats: int,
) -> tuple[list[Result], bool]:
    """The results of all prompts, or of those finished before Ctrl+C; and whether all were."""
    from lookahead_cli.cli.benchmark import Result, measure, warm_up
    from lookahead_cli.cli.console import StderrProgress
    from lookahead_cli.trace.events import Progress

    done: list[list[Measurement]] = []
    finished = False
    try:
        with StderrProgress() as report:
            report(Progress("warming up"))
            warm_up(model, prompts[0][1], configs)
            for index, (prompt, prompt_ids) in enumerate(prompts):
                report(Progress(f"measuring {prompt.name}", index, len(prompts), "prompts"))
                done.append(list(measure(model, prompt.name, prompt_ids, configs, repeats)))
        finished = True
    except KeyboardInterrupt:
        pass
    if not done:
        return [], finished
    columns = zip(*done, strict=True)
    return [Result(config, tuple(column)) for config, column in zip(configs, columns, strict=True)], finished


def _show(model: LanguageModel, results: Sequence[Result], *, json: bool) -> None:
    from lookahead_cli.cli.console import output_console, without_controls, writing_output

    with writing_output():
        if json:
            from json import dumps

            typer.echo(dumps(_as_json(model, results), indent=2))
            return
        from rich.table import Table

        greedy = results[0]
        count = len(greedy.measurements)
        title = f"{model.name} · {model.dtype} · {model.device}"
        table = Table(box=None, pad_edge=False)
        for heading in (
            "W,N,G",
            "S",
            "steps",
            "nodes a step",
            "seconds",
            "tokens/s",
            "time ratio",
            "ids equal",
        ):
            table.add_column(heading, justify="left" if heading == "W,N,G" else "right", no_wrap=True)
        for result in results:
            table.add_row(
                _name(result.config),
                f"{result.compression_ratio:.2f}",
                str(result.steps),
                f"{result.nodes_per_step:.1f}",
                f"{result.seconds:.1f}",
                f"{result.tokens / result.seconds:.1f}",
                f"{result.time_ratio:.2f}x",
                f"{result.equal} of {count}",
            )
        console = output_console()
        console.print(
            without_controls(
                f"{title} · {count} prompts · at most {greedy.config.max_new_tokens} tokens each"
            ),
            style="bold",
        )
        console.print(table)
        console.print(
            "S, the compression ratio: all tokens / all steps. Time ratio: greedy's decode seconds / these, "
            "median over the prompts; above 1 is quicker than greedy.",
            style="dim",
        )


def _as_json(model: LanguageModel, results: Sequence[Result]) -> dict[str, Any]:
    return {
        "model": model.name,
        "dtype": model.dtype,
        "device": model.device,
        "results": [
            {
                "config": dict(result.config.as_mapping()),
                "compression_ratio": result.compression_ratio,
                "tokens": result.tokens,
                "steps": result.steps,
                "nodes_per_step": result.nodes_per_step,
                "seconds": result.seconds,
                "time_ratio": result.time_ratio,
                "ids_equal": result.equal,
                "prompts": [
                    {
                        "prompt": each.prompt,
                        "tokens": len(each.output_ids),
                        "steps": each.steps,
                        "compression_ratio": each.compression_ratio,
                        "nodes": each.nodes,
                        "seconds": each.seconds,
                        "time_ratio": each.time_ratio,
                        "ids_equal": each.ids_equal,
                    }
                    for each in result.measurements
                ],
            }
            for result in results
        ],
    }


def _name(config: LookaheadConfig) -> str:
    if config.method == "greedy":
        return "greedy"
    return f"{config.window_size},{config.ngram_size},{config.guess_set_size}"
