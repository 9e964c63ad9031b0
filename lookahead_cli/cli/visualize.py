"""`lookahead visualize`: decode one prompt and show every step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lookahead_cli.cli import options


def visualize(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The prompt's file; - reads standard input.")],
    model: options.Model = None,
    device: options.Device = "auto",
    dtype: options.DType = "auto",
    method: options.DecodingMethod = "lookahead",
    window_size: options.WindowSize = None,
    ngram_size: options.NGramSize = None,
    guess_set_size: options.GuessSetSize = None,
    max_new_tokens: options.MaxNewTokens = 128,
    seed: options.Seed = 0,
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
    theme: options.Theme = None,
    paused: options.Paused = False,
    speed: options.Speed = None,
) -> int:
    """Decode a prompt and show every step: window, pool, what was accepted and why the rest was not."""
    from lookahead_cli.cli.live import LiveSource, RunRequest
    from lookahead_cli.cli.output import Output, choose_view, show
    from lookahead_cli.cli.prompts import read_prompt

    spec = options.model_or_default(model)
    view = choose_view(plain=plain, compact=compact, json=json)
    config = options.settings(
        spec,
        window_size,
        ngram_size,
        guess_set_size,
        max_new_tokens=max_new_tokens,
        seed=seed,
        method=method,
    )
    options.check_speed(speed)
    options.check_theme(theme)
    prompt = read_prompt(file)
    options.check_writable(record, inputs=(file,))
    options.check_model(spec)
    request = RunRequest(
        model=spec,
        device=device,
        dtype=dtype,
        prompt=prompt,
        style=options.prompt_style(chat),
        config=config,
        greedy=greedy,
        record=record,
    )
    return show(LiveSource(request), Output(view, theme, paused, speed))
