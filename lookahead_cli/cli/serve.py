"""`lookahead serve`: the full-screen program in a browser."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from lookahead_cli.cli.console import note
from lookahead_cli.errors import InputError, UsageError

_SHOWN = ("visualize", "chat", "replay", "tour")


def serve(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND",
            help="visualize, chat, replay or tour, with its own arguments and options.",
            show_default=False,
        ),
    ],
    port: Annotated[
        int, typer.Option("--port", metavar="PORT", help="Where the page is.", min=1, max=65535)
    ] = 8000,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="HOST",
            help="Who may reach it: this machine alone, unless another address is given. Everybody who can "
            "open the page runs the program as you.",
        ),
    ] = "127.0.0.1",
) -> int:
    """Show a command's full screen in a browser: lookahead serve visualize FILE."""
    import shlex

    if command[0] not in _SHOWN:
        raise UsageError(f"'{command[0]}' has no screen.", f"Serve {', '.join(_SHOWN[:-1])} or {_SHOWN[-1]}.")
    try:
        from textual_serve.server import Server
    except ImportError:
        raise UsageError(
            "Serving needs the package textual-serve.", "Install it: pip install textual-serve"
        ) from None
    _check_command(command)
    _check_free(host, port)
    program = shlex.join([sys.executable, "-m", "lookahead_cli", *command])
    note(f"Open http://{host}:{port} in a browser; Ctrl+C ends it.")
    Server(program, host=host, port=port, title=f"lookahead {shlex.join(command)}").serve()
    return 0


def _check_command(command: list[str]) -> None:
    """Say what is wrong with the command here, not on a page.

    Raises:
        LookaheadError: Its file cannot be read.
    """
    from typer.main import get_command

    from lookahead_cli.cli.app import app
    from lookahead_cli.cli.prompts import read_prompt
    from lookahead_cli.trace.reader import read_trace

    name, *arguments = command
    parser: Any = get_command(app)
    given = parser.commands[name].make_context(f"lookahead {name}", arguments).params
    file = given.get("file") or given.get("trace")
    if file == "-":
        raise UsageError("A page has no standard input.", "Give a file.")
    if name == "visualize":
        read_prompt(file)
    elif name == "replay":
        next(read_trace(file))


def _check_free(host: str, port: int) -> None:
    import socket

    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        # As the server does: a port that was just left is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise InputError(
                f"{host}:{port} cannot be used ({error.strerror or error}).",
                "Choose another one with --port.",
            ) from error
