"""`lookahead visualize`: decode one prompt and show every step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from lookahead_cli.cli import checks, options
from lookahead_cli.cli.groups import with_groups
from lookahead_cli.decoding.config import Method


@with_groups
def visualize(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The prompt's file; - reads standard input.")],
    model: options.ModelOptions,
    setting: options.SettingOptions,
    sampling: options.SamplingOptions,
    pools: options.PoolOptions,
    method: options.DecodingMethod = "lookahead",
    max_new_tokens: options.MaxNewTokens = 128,
    chat: options.ChatOrRaw = None,
    greedy: Annotated[
        bool,
        typer.Option(
            "--greedy",
            help="Run greedy decoding too, and compare token ids and time.",
            rich_help_panel="Decoding",
        ),
    ] = False,
    plain: options.Plain = False,
    compact: options.Compact = False,
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Write the trace to standard output, as JSON lines.", rich_help_panel="Output"
        ),
    ] = False,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record",
            metavar="FILE",
            show_default=False,
            help="Write the trace to a file while decoding, for `lookahead replay`.",
            rich_help_panel="Output",
        ),
    ] = None,
    race: Annotated[
        bool,
        typer.Option(
            "--race", help="Race greedy decoding on the same prompt (key g).", rich_help_panel="Race"
        ),
    ] = False,
    race_with: Annotated[
        list[str] | None,
        typer.Option(
            "--race-with",
            metavar="METHOD",
            show_default=False,
            help="Another method in the race, such as jacobi or prompt-lookup; may be given several times.",
            rich_help_panel="Race",
        ),
    ] = None,
    theme: options.Theme = None,
    paused: options.Paused = False,
    speed: options.Speed = None,
    presenter: options.Presenter = False,
) -> int:
    """Decode a prompt and show every step: window, pool, what was accepted and why the rest was not."""
    from lookahead_cli.cli.live import LiveSource, RunRequest, rival_configs
    from lookahead_cli.cli.output import Output, choose_view, show
    from lookahead_cli.cli.prompts import read_prompt
    from lookahead_cli.cli.race import check_race

    view = choose_view(plain=plain, compact=compact, json=json)
    config = options.config_of(model.spec, setting, sampling, max_new_tokens=max_new_tokens, method=method)
    # Names are checked with the settings, as in every command.
    others = cast(tuple[Method, ...], tuple(race_with or ()))
    races = race or bool(others)
    check_race(races, view)
    if races:
        rival_configs(config, others)
    checks.check_speed(speed)
    checks.check_theme(theme)
    prompt = read_prompt(file)
    checks.check_record(record, file)
    checks.check_apart(record, pools.pool)
    model.check("draft" if "draft" in others else method)
    request = RunRequest(
        model=model,
        prompt=prompt,
        style=checks.prompt_style(chat),
        config=config,
        pools=checks.read_pools(pools, config),
        greedy=greedy,
        record=record,
        race_with=others,
    )
    return show(LiveSource(request), Output(view, theme, paused, speed, races, presenter))
