"""`lookahead tour`: a guided lesson on recorded runs; needs neither a model nor torch."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

import typer

from lookahead_cli.cli import checks, options
from lookahead_cli.errors import ExitCode, UsageError

EPILOG = """\
Examples:

lookahead tour --theme projector

lookahead tour --stop 7

lookahead tour --plain | less
"""


def tour(
    stop: Annotated[
        int,
        typer.Option(
            "--stop", metavar="NUMBER", help="Begin at this stop; --list names them.", show_default=False
        ),
    ] = 1,
    show_list: Annotated[bool, typer.Option("--list", help="List the stops, and leave.")] = False,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain",
            rich_help_panel="Output",
            help="Print the lesson as text; chosen by itself where standard output is no terminal.",
        ),
    ] = False,
    theme: options.Theme = None,
) -> int:
    """Learn lookahead decoding, stop by stop, on recorded runs: no model is needed."""
    from lookahead_cli.cli.output import can_show_a_screen, in_browser
    from lookahead_cli.tui.terminal import keyboard_from_terminal
    from lookahead_cli.tui.tour.lesson import STOPS

    if not 1 <= stop <= len(STOPS):
        raise UsageError(
            f"The tour has no stop {stop}.", f"Give one from 1 to {len(STOPS)}; --list names them."
        )
    checks.check_theme(theme)
    if show_list:
        for number, one in enumerate(STOPS, start=1):
            print(f"{number:>2}  {one.title}")
        return ExitCode.OK
    if not plain and can_show_a_screen():
        # A browser's keys come through standard input; a pipe there is no keyboard.
        with nullcontext(True) if in_browser() else keyboard_from_terminal() as has_keys:
            if has_keys:
                from lookahead_cli.tui.tour.app import run_tour

                return ExitCode.INTERRUPTED if run_tour(theme=theme, first=stop - 1) else ExitCode.OK
    from lookahead_cli.cli.lesson_printer import print_lesson

    print_lesson(first=stop - 1, theme=theme)
    return ExitCode.OK
