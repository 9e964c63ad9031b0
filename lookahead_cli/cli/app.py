"""The Typer app: the commands and what stands on the help's first page."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lookahead_cli.cli.bench import bench
from lookahead_cli.cli.chat import chat
from lookahead_cli.cli.compare import compare
from lookahead_cli.cli.config import config
from lookahead_cli.cli.console import discard_output
from lookahead_cli.cli.models import models
from lookahead_cli.cli.replay import replay
from lookahead_cli.cli.serve import serve
from lookahead_cli.cli.sessions import sessions
from lookahead_cli.cli.settings import defaults_of, read_settings
from lookahead_cli.cli.themes import themes
from lookahead_cli.cli.tour import EPILOG as TOUR_EXAMPLES
from lookahead_cli.cli.tour import tour
from lookahead_cli.cli.visualize import visualize
from lookahead_cli.errors import ExitCode

_HELP = """\
Run a language model with lookahead decoding and watch every step of it.

Guesses from a 2D Jacobi window and an n-gram pool are verified in the model's own forward pass, so that one \
step can emit several tokens. In float32 the token ids are those of greedy decoding, every one.
"""
_EPILOG = "Start with: lookahead visualize examples/code-fibonacci.py"


class CommandGroup(TyperGroup):
    """The commands; a reader who leaves early (`lookahead … | head`) ends them without a word.

    Settings files give their defaults.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        # Help, and the command that mends settings, work whatever the settings say.
        arguments = [*ctx._protected_args, *ctx.args]
        if arguments[:1] != ["config"] and not {"-h", "--help"} & {*arguments}:
            ctx.default_map = defaults_of(self.commands, read_settings(self.commands))
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            discard_output()
            return ExitCode.OK


def _show_version(wanted: bool) -> None:
    if wanted:
        from lookahead_cli import __version__

        typer.echo(f"lookahead {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=CommandGroup,
    name="lookahead",
    help=_HELP,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and leave.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)


app.command(epilog=TOUR_EXAMPLES)(tour)
app.command()(visualize)
app.command()(chat)
app.command()(replay)
app.command()(compare)
app.command()(bench)
app.command()(models)
app.command()(themes)
app.add_typer(sessions, name="sessions")
app.add_typer(config, name="config")
app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})(serve)
