"""What is checked before a model is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lookahead_cli.cli.options import PoolOptions
from lookahead_cli.cli.prompts import STANDARD_INPUT, PromptStyle, read_prompt
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import InputError, UsageError

if TYPE_CHECKING:
    from lookahead_cli.models.pools import PoolRequest

_TRACE_BEGINS = b'{"type":"header"'


def check_theme(theme: str | None) -> None:
    """Refuse a theme that is not there; a broken one is named, and the default is used.

    Raises:
        UsageError: No theme has this name, and no file has this path.
    """
    if theme is not None:
        from lookahead_cli.cli.console import note
        from lookahead_cli.tui.theme import load_theme_or_default

        complaint = load_theme_or_default(theme)[1]
        if complaint is not None:
            note(complaint)


def prompt_style(chat: bool | None) -> PromptStyle:
    """The `--chat/--raw` switch as a prompt style."""
    return "auto" if chat is None else "chat" if chat else "raw"


def read_pools(pools: PoolOptions, config: LookaheadConfig) -> PoolRequest:
    """The pool that was asked for; its texts are read now, before a model is loaded.

    Raises:
        InputError: A text cannot be used, or the pool's file cannot be written.
        UsageError: The method has no pool, or takes nothing from it.
    """
    from lookahead_cli.models.pools import PoolRequest

    if (pools.pool_from or pools.pool) and config.method != "lookahead":
        raise UsageError(
            f"The method '{config.method}' has no n-gram pool.", "Leave out --pool and --pool-from."
        )
    if (pools.pool_from or pools.pool) and config.guess_set_size == 0:
        raise UsageError(
            "G = 0 takes no guesses from an n-gram pool.",
            "Give -G 1 or more, or leave out --pool and --pool-from.",
        )
    texts = tuple(read_prompt(str(file)).text for file in pools.pool_from or ())
    check_writable(pools.pool)
    return PoolRequest(texts, pools.pool)


def check_speed(speed: float | None) -> None:
    """Refuse a speed at which nothing would move."""
    if speed is not None and not speed > 0:
        raise UsageError(
            f"--speed {speed:g} cannot work.", "Give steps a second above 0, or start with --paused."
        )


def check_record(path: Path | None, prompt: str) -> None:
    """Refuse to record into a file that cannot be written, or that holds something else than a trace.

    Args:
        path: The file to write; None passes.
        prompt: The prompt's file.

    Raises:
        InputError: It is a folder, its folder is missing, or it would overwrite something of value.
        UsageError: It is `-`, which is no file.
    """
    if path is not None and str(path) == STANDARD_INPUT:
        raise UsageError("--record needs a file.", "--json writes the trace to standard output.")
    check_writable(path)
    if path is None or not path.is_file():
        return
    if Path(prompt).exists() and path.samefile(prompt):
        raise InputError(f"'{path}' is the prompt itself.", "Record into another file.")
    with path.open("rb") as stream:
        beginning = stream.read(len(_TRACE_BEGINS))
    if beginning not in (b"", _TRACE_BEGINS):
        raise InputError(
            f"'{path}' is there and is no trace.", "Record into another file, or remove this one first."
        )


def check_apart(record: Path | None, pool: Path | None) -> None:
    """Refuse one file for the trace and the pool: the pool, written last, would be all that is left.

    Raises:
        UsageError: They are one.
    """
    if record is not None and pool is not None and record.absolute() == pool.absolute():
        raise UsageError(f"--record and --pool both want '{record}'.", "Name two files.")


def check_writable(path: Path | None) -> None:
    """Refuse a file that cannot be written, before a model is loaded for it.

    Args:
        path: The file to write; None passes.

    Raises:
        InputError: It is a folder, or its folder is missing.
    """
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"'{path}' is a folder.", "Name a file in it.")
    if path.exists() and not path.is_file():
        return  # a pipe or a device: opening it to try would already use it up
    is_new = not path.exists()
    try:
        with path.open("ab"):
            pass
        if is_new:
            path.unlink()
    except OSError as error:
        raise InputError(
            f"'{path}' cannot be written ({error.strerror or error}).", "Choose another file."
        ) from error
