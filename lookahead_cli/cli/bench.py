"""`lookahead bench`: how quick ways of decoding are, over a set of prompts, beside transformers' own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookahead_cli.cli import checks, options
from lookahead_cli.cli.groups import with_groups
from lookahead_cli.cli.measuring import matrix
from lookahead_cli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFAULT_SETTINGS = ("15,5,15", "7,5,7")
_DEFAULT_MINUTES = 15.0


@with_groups
def bench(
    prompts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FOLDER|FILE",
            show_default=False,
            help="Prompts, folders of them, or .jsonl files with a prompt a line. Default: ./examples.",
        ),
    ] = None,
    *,
    model: options.ModelOptions,
    setting: options.SettingOptions,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="METHOD",
            show_default=False,
            help="A method to measure; may be given several times. Default: lookahead, in the settings "
            "15,5,15 and 7,5,7.",
            rich_help_panel="Decoding",
        ),
    ] = None,
    settings: matrix.Settings = None,
    chat: options.ChatOrRaw = None,
    max_new_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-new-tokens",
            "-t",
            metavar="TOKENS",
            show_default=False,
            help="Most tokens of a run. Default: 128, fewer where one round would not fit --minutes.",
            rich_help_panel="Measuring",
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            "--repeats",
            metavar="TIMES",
            show_default=False,
            help="Rounds: runs of each prompt in each way, alternately; the median counts. Default: as many "
            "as fit --minutes, at most 5.",
            rich_help_panel="Measuring",
        ),
    ] = None,
    minutes: Annotated[
        float,
        typer.Option(
            "--minutes",
            metavar="MINUTES",
            help="What the measuring may take, loading and warm-up apart; tokens and repeats that were not "
            "given are chosen to fit.",
            rich_help_panel="Measuring",
        ),
    ] = _DEFAULT_MINUTES,
    most_prompts: Annotated[
        int,
        typer.Option(
            "--most-prompts",
            metavar="COUNT",
            help="Most prompts of each folder or .jsonl file, spread over their kinds; 0 takes all.",
            rich_help_panel="Measuring",
        ),
    ] = 12,
    peers: Annotated[
        bool,
        typer.Option(
            "--peers/--no-peers",
            help="Run transformers' own generate beside it, greedily and with its prompt lookup, on the same "
            "weights.",
            rich_help_panel="Measuring",
        ),
    ] = True,
    json: Annotated[
        bool,
        typer.Option("--json", help="Write all measurements as JSON.", rich_help_panel="Output"),
    ] = False,
    csv: Annotated[
        bool,
        typer.Option("--csv", help="Write a line a way, as CSV.", rich_help_panel="Output"),
    ] = False,
    markdown: Annotated[
        bool,
        typer.Option("--markdown", help="Write a Markdown table.", rich_help_panel="Output"),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            show_default=False,
            help="Draw the speeds into an .svg or a .png; needs matplotlib.",
            rich_help_panel="Output",
        ),
    ] = None,
    against_last: Annotated[
        bool,
        typer.Option(
            "--against-last",
            help="Compare with the last run of the same prompts on this kind of machine, and keep this one "
            "for the next.",
            rich_help_panel="Output",
        ),
    ] = False,
) -> int:
    """Measure S, tokens a second and memory of ways of decoding, against greedy decoding and transformers.

    Greedy always runs; all ways decode each prompt by turns, after a warm-up.
    Ctrl+C keeps what was measured.
    """
    from lookahead_cli.cli.console import note
    from lookahead_cli.cli.measuring.plot import check_plot, draw_plot
    from lookahead_cli.cli.measuring.prompt_sets import read_prompts

    matrix.check_repeats(repeats)
    if not minutes > 0:
        raise UsageError(f"--minutes {minutes:g} cannot work.", "Give more than 0.")
    if most_prompts < 0:
        raise UsageError(f"--most-prompts {most_prompts} cannot work.", "Give 0 for all, or more.")
    if json + csv + markdown > 1:
        raise UsageError("--json, --csv and --markdown all want standard output.", "Give one of them.")
    check_plot(plot)
    checks.check_writable(plot)
    asked = options.config_of(
        model.spec, setting, max_new_tokens=128 if max_new_tokens is None else max_new_tokens
    )
    chosen = tuple(methods or (["lookahead", "draft"] if model.draft_model else ["lookahead"]))
    sizes = matrix.settings_of(settings, setting, asked, () if methods else _DEFAULT_SETTINGS) or [asked]
    configs = matrix.variants(chosen, sizes, asked)
    read, remarks = read_prompts(prompts, most_prompts)
    model.check("draft" if "draft" in chosen else "lookahead")
    for remark in remarks:
        note(remark)
    measured = matrix.Matrix(
        model,
        "bfloat16",
        read,
        checks.prompt_style(chat),
        configs,
        tokens=max_new_tokens,
        rounds=repeats,
        budget=60 * minutes,
        peers=peers,
    ).run()
    if measured.results:
        from lookahead_cli.cli.measuring.report import report_of

        report = report_of(measured)
        _write(report, json=json, csv=csv, markdown=markdown)
        if plot is not None:
            draw_plot(report, plot)
        if against_last and measured.finished:
            _compare_with_last(report)
    if not measured.finished:
        return ExitCode.INTERRUPTED
    ours = measured.results[: len(configs)]
    unequal = any(result.equal < len(result.measurements) for result in ours)
    return ExitCode.MISMATCH if unequal and measured.model.dtype == "float32" else ExitCode.OK


def _write(report: Mapping[str, Any], *, json: bool, csv: bool, markdown: bool) -> None:
    """Write the rows to standard output."""
    from lookahead_cli.cli.console import writing_output
    from lookahead_cli.cli.measuring.tables import as_csv, as_markdown, print_table

    with writing_output():
        if json:
            from json import dumps

            typer.echo(dumps(report, indent=2))
        elif csv or markdown:
            typer.echo(as_csv(report) if csv else as_markdown(report))
        else:
            print_table(report)


def _compare_with_last(report: Mapping[str, Any]) -> None:
    """Say on standard error what changed since the last run, and keep this one."""
    from lookahead_cli.cli.console import note
    from lookahead_cli.cli.measuring.history import differences, keep, last_report

    last = last_report(report)
    if last is None:
        note("This is the first run of these prompts on this kind of machine; the next is compared with it.")
    else:
        note(f"Beside the last run on this kind of machine, of {last['measured_at']}:")
        for line in differences(report, last):
            note(f"  {line}")
    try:
        note(f"Kept in {keep(report)}.")
    except OSError as error:
        note(f"It cannot be kept: {error}.")
