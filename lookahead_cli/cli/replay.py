"""`lookahead replay`: show a recorded run again; needs neither torch nor transformers."""

from __future__ import annotations

from typing import Annotated

import typer

from lookahead_cli.cli import checks, options


def replay(
    trace: Annotated[
        str,
        typer.Argument(
            metavar="TRACE",
            help="A trace written by --record or --json; - reads standard input.",
            show_default=False,
        ),
    ],
    plain: options.Plain = False,
    compact: options.Compact = False,
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Write the trace to standard output, as JSON lines.", rich_help_panel="Output"
        ),
    ] = False,
    race: Annotated[
        list[str] | None,
        typer.Option(
            "--race",
            metavar="TRACE",
            show_default=False,
            help="Race another recording of the same prompt (key g); may be given several times.",
            rich_help_panel="Race",
        ),
    ] = None,
    theme: options.Theme = None,
    paused: options.Paused = False,
    speed: options.Speed = None,
    presenter: options.Presenter = False,
) -> int:
    """Show a recorded run again, forwards and backwards."""
    from lookahead_cli.cli.output import Output, choose_view, show
    from lookahead_cli.cli.race import check_race, recorded_rivals
    from lookahead_cli.tui.source import TraceSource

    view = choose_view(plain=plain, compact=compact, json=json)
    check_race(bool(race), view)
    checks.check_speed(speed)
    checks.check_theme(theme)
    source = TraceSource.named(trace, recorded_rivals(trace, race or ()))
    return show(source, Output(view, theme, paused, speed, bool(race), presenter))
