"""The command line: `main` runs a command and makes one sentence and an exit code of every error."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from lookahead_cli.cli import torchrun
from lookahead_cli.errors import ExitCode, LookaheadError

_PARSER_WORDS = re.compile(r"Value error, |, unable to parse string as an? \w+")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code.

    Args:
        arguments: What follows the program's name; None reads `sys.argv`.

    Raises:
        SystemExit: Always, with a value of `ExitCode`.
    """
    sys.exit(int(run(sys.argv[1:] if arguments is None else arguments)))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; an error of ours becomes one sentence on standard error."""
    from typer import Abort, TyperException

    from lookahead_cli.cli.app import app
    from lookahead_cli.cli.console import complain, discard_output, never_fail_on_encoding, writing_output

    never_fail_on_encoding()
    if torchrun.serves():
        torchrun.serve()
        return ExitCode.OK
    if torchrun.under_torchrun():
        torchrun.outlive_the_others()
    try:
        with writing_output():
            result = app(args=list(arguments), prog_name="lookahead", standalone_mode=False)
            sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
        return ExitCode.OK
    except (KeyboardInterrupt, Abort):
        return ExitCode.INTERRUPTED
    except LookaheadError as error:
        complain(error.message, error.hint)
        return error.exit_code
    except TyperException as error:
        complain(_as_sentence(error.format_message()), "Add --help to see what the command takes.")
        return ExitCode.USAGE
    return result if isinstance(result, int) else ExitCode.OK


def _as_sentence(message: str) -> str:
    """The command-line parser's message as one line that ends like a sentence."""
    line = _PARSER_WORDS.sub("", " ".join(message.split()))
    return line if line.endswith((".", "?", "!")) else f"{line}."
