"""`lookahead bench`: steps and seconds of lookahead against greedy decoding, over a set of prompts."""

from __future__ import annotations

from typing import Annotated

import typer

from lookahead_cli.cli import checks, matrix, options
from lookahead_cli.cli.groups import with_groups
from lookahead_cli.errors import ExitCode

_DEFAULT_SETTINGS = ("15,5,15", "7,5,7")


@with_groups
def bench(
    prompts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FOLDER|FILE",
            show_default=False,
            help="Prompts, or folders of them. Default: ./examples.",
        ),
    ] = None,
    *,
    model: options.ModelOptions,
    setting: options.SettingOptions,
    settings: matrix.Settings = None,
    max_new_tokens: options.MaxNewTokens = 128,
    repeats: matrix.Repeats = 1,
    chat: options.ChatOrRaw = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Write all measurements as JSON.", rich_help_panel="Output"),
    ] = False,
) -> int:
    """Measure the compression ratio and the time of lookahead decoding against greedy decoding.

    Without --setting: 15,5,15 and 7,5,7.
    """
    from lookahead_cli.cli.prompts import read_prompt
    from lookahead_cli.cli.results import show_results

    matrix.check_repeats(repeats)
    asked = options.config_of(model.spec, setting, max_new_tokens=max_new_tokens)
    configs = matrix.variants(
        ("lookahead",), matrix.settings_of(settings, setting, asked, _DEFAULT_SETTINGS), asked
    )
    read = [read_prompt(file) for file in matrix.prompt_files(prompts)]
    model.check("lookahead")
    measured = matrix.Matrix(model, "bfloat16", read, checks.prompt_style(chat), configs, repeats)
    loaded, results, finished = measured.run()
    if results:
        show_results(loaded, results, json=json)
    if not finished:
        return ExitCode.INTERRUPTED
    unequal = any(result.equal < len(result.measurements) for result in results)
    return ExitCode.MISMATCH if unequal and loaded.dtype == "float32" else ExitCode.OK
