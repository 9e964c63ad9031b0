"""`lookahead compare`: the same prompts through several methods and settings, run alternately."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lookahead_cli.cli import checks, options
from lookahead_cli.cli.groups import with_groups
from lookahead_cli.cli.measuring import matrix
from lookahead_cli.errors import ExitCode

if TYPE_CHECKING:
    from lookahead_cli.cli.measuring.rounds import Difference, Result
    from lookahead_cli.models.language_model import LanguageModel

_METHODS = ("jacobi", "prompt-lookup", "lookahead")


@with_groups
def compare(
    prompts: Annotated[
        list[str], typer.Argument(metavar="FILE", show_default=False, help="Prompts, or folders of them.")
    ],
    model: options.ModelOptions,
    setting: options.SettingOptions,
    sampling: options.SamplingOptions,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="METHOD",
            show_default=False,
            help="A method to compare with greedy; may be given several times. Default: jacobi, "
            "prompt-lookup and lookahead.",
            rich_help_panel="Decoding",
        ),
    ] = None,
    settings: matrix.Settings = None,
    max_new_tokens: options.MaxNewTokens = 128,
    repeats: Annotated[
        int,
        typer.Option(
            "--repeats",
            metavar="TIMES",
            help="Runs of each prompt and setting, alternately; the median counts.",
            rich_help_panel="Decoding",
        ),
    ] = 1,
    chat: options.ChatOrRaw = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Write all measurements as JSON.", rich_help_panel="Output"),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Fail where ids differ in float32.", rich_help_panel="Output"),
    ] = False,
) -> int:
    """Compare methods and settings on the same prompts: S, steps, nodes, seconds, and whether ids are equal.

    Greedy always runs, and the others are compared with it; when sampling, it draws with the same seed.
    """
    from lookahead_cli.cli.measuring.comparison import show_results
    from lookahead_cli.cli.measuring.prompt_sets import read_prompts

    matrix.check_repeats(repeats)
    asked = options.config_of(model.spec, setting, sampling, max_new_tokens=max_new_tokens)
    usual = (*_METHODS, "draft") if model.draft_model else _METHODS
    chosen = tuple(methods or usual)
    sizes = matrix.settings_of(settings, setting, asked, ()) or [asked]
    configs = matrix.variants(chosen, sizes, asked)
    read, _ = read_prompts(prompts)
    model.check("draft" if "draft" in chosen else "lookahead")
    measured = matrix.Matrix(
        model,
        "float32",
        read,
        checks.prompt_style(chat),
        configs,
        tokens=max_new_tokens,
        rounds=repeats,
        budget=0.0,
    ).run()
    loaded, results = measured.model, measured.results
    if results:
        show_results(loaded, results, max_new_tokens, json=json)
    differences = _differences(results)
    if differences and not json:
        _show_differences(loaded, differences)
    if not measured.finished:
        return ExitCode.INTERRUPTED
    return ExitCode.MISMATCH if strict and differences and loaded.dtype == "float32" else ExitCode.OK


def _differences(results: list[Result]) -> list[tuple[str, str, Difference]]:
    return [
        (result.way.words, each.prompt, each.difference)
        for result in results
        for each in result.measurements
        if each.difference is not None
    ]


def _show_differences(model: LanguageModel, differences: list[tuple[str, str, Difference]]) -> None:
    from lookahead_cli.cli.console import output_console, without_controls, writing_output
    from lookahead_cli.cli.measuring.comparison import token_text
    from lookahead_cli.trace.words import difference_meaning, number

    console = output_console()
    with writing_output():
        console.print()
        for name, prompt, difference in differences:
            expected, got = (
                "the end" if token is None else repr(token_text(model, token))
                for token in (difference.expected, difference.got)
            )
            gap = difference.top_two_gap
            apart = "" if gap is None else f"; greedy's top two logits are {gap:.2g} apart there"
            line = f"{name}, {prompt}: first difference at output token {number(difference.position)}: "
            console.print(without_controls(f"{line}greedy {expected}, here {got}{apart}"), soft_wrap=True)
        console.print(difference_meaning(model.dtype), style="dim", soft_wrap=True)
