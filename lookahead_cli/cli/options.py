"""Options that several commands share, and the settings that they make up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lookahead_cli.cli.prompts import PromptStyle
from lookahead_cli.decoding.config import LookaheadConfig, Method
from lookahead_cli.errors import InputError, UsageError

SMALL_WINDOW, SMALL_NGRAM, SMALL_GUESS_SET = 7, 5, 7

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        show_default=False,
        help="An alias (see `lookahead models`), a hub id, a local folder, or a .gguf file. "
        "Default: SmolLM2 135M.",
        rich_help_panel="Model",
    ),
]
Device = Annotated[
    str, typer.Option("--device", help="auto, cpu, cuda or mps.", metavar="DEVICE", rich_help_panel="Model")
]
DType = Annotated[
    str,
    typer.Option(
        "--dtype",
        metavar="DTYPE",
        help="auto, float32, bfloat16 or float16. Only float32 promises greedy decoding's ids.",
        rich_help_panel="Model",
    ),
]
WindowSize = Annotated[
    int | None,
    typer.Option(
        "--window-size",
        "-W",
        metavar="W",
        show_default=False,
        help="Columns of the 2D window: how far ahead is guessed. Default: the alias's settings, else 7.",
        rich_help_panel="Decoding",
    ),
]
NGramSize = Annotated[
    int | None,
    typer.Option(
        "--ngram-size",
        "-N",
        metavar="N",
        show_default=False,
        help="Length of an n-gram; the window has N-1 rows. Default: the alias's settings, else 5.",
        rich_help_panel="Decoding",
    ),
]
GuessSetSize = Annotated[
    int | None,
    typer.Option(
        "--guess-set-size",
        "-G",
        metavar="G",
        show_default=False,
        help="Most pool candidates verified in one step. Default: the alias's settings, else 7.",
        rich_help_panel="Decoding",
    ),
]
MaxNewTokens = Annotated[
    int,
    typer.Option(
        "--max-new-tokens", "-t", metavar="TOKENS", help="Most tokens emitted.", rich_help_panel="Decoding"
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="SEED",
        help="Seed of the window's random tokens: changes the steps, never the text.",
        rich_help_panel="Decoding",
    ),
]
DecodingMethod = Annotated[
    Method, typer.Option("--method", help="Who guesses: lookahead, or nobody.", rich_help_panel="Decoding")
]
ChatOrRaw = Annotated[
    bool | None,
    typer.Option(
        "--chat/--raw",
        show_default=False,
        help="Send the text through the model's chat template, or feed it as it is, special tokens in it "
        "parsed. Default: --chat for a text file where the model has a template, --raw for source code.",
        rich_help_panel="Decoding",
    ),
]
Theme = Annotated[
    str | None,
    typer.Option(
        "--theme",
        metavar="THEME",
        show_default=False,
        help="A theme's name (see `lookahead themes`) or its file.",
        rich_help_panel="Output",
    ),
]
Plain = Annotated[
    bool,
    typer.Option(
        "--plain",
        help="Print a step at a time instead of the full screen; chosen by itself where standard output is "
        "no terminal.",
        rich_help_panel="Output",
    ),
]
Compact = Annotated[
    bool,
    typer.Option("--compact", help="Like --plain, with one line a step.", rich_help_panel="Output"),
]
Paused = Annotated[
    bool, typer.Option("--paused", help="Start paused: one step a key press.", rich_help_panel="Output")
]
Speed = Annotated[
    float | None,
    typer.Option(
        "--speed",
        metavar="STEPS",
        show_default=False,
        help="Steps a second on the full screen. Default: as fast as the model.",
        rich_help_panel="Output",
    ),
]


def settings(
    spec: str,
    window_size: int | None,
    ngram_size: int | None,
    guess_set_size: int | None,
    *,
    max_new_tokens: int,
    seed: int,
    method: Method = "lookahead",
    temperature: float = 0.0,
) -> LookaheadConfig:
    """Settings of a run: what was asked for, else what the alias names, else (7, 5, 7) for small trees.

    Raises:
        UsageError: A value that cannot work.
    """
    from lookahead_cli.models.aliases import find_alias

    alias = find_alias(spec)
    named = (
        (None, None, None) if alias is None else (alias.window_size, alias.ngram_size, alias.guess_set_size)
    )
    return LookaheadConfig(
        method=method,
        window_size=_first(window_size, named[0], SMALL_WINDOW),
        ngram_size=_first(ngram_size, named[1], SMALL_NGRAM),
        guess_set_size=_first(guess_set_size, named[2], SMALL_GUESS_SET),
        max_new_tokens=max_new_tokens,
        seed=seed,
        temperature=temperature,
    )


def model_or_default(model: str | None) -> str:
    """The model that was asked for, or the one that needs no hub."""
    from lookahead_cli.models.aliases import default_model

    return default_model() if model is None else model


def check_model(spec: str) -> None:
    """Refuse a name that names no model, before torch is imported for it.

    Raises:
        ModelError: It is no alias, no path that is there, and no hub id.
    """
    from lookahead_cli.models.sources import find_source

    find_source(spec)


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


def _first(asked: int | None, named: int | None, otherwise: int) -> int:
    return asked if asked is not None else named if named is not None else otherwise


def prompt_style(chat: bool | None) -> PromptStyle:
    """The `--chat/--raw` switch as a prompt style."""
    return "auto" if chat is None else "chat" if chat else "raw"


def check_speed(speed: float | None) -> None:
    """Refuse a speed at which nothing would move."""
    if speed is not None and not speed > 0:
        raise UsageError(
            f"--speed {speed:g} cannot work.", "Give steps a second above 0, or start with --paused."
        )


def check_writable(path: Path | None, *, inputs: tuple[str, ...] = ()) -> None:
    """Refuse a file that cannot be written, before a model is loaded for it.

    Args:
        path: The file to write; None passes.
        inputs: Files that are read by the same command and must not be overwritten.

    Raises:
        InputError: It is a folder, its folder is missing, or it must not be written.
    """
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"'{path}' is a folder.", "Name a file in it.")
    if any(Path(name).exists() and path.exists() and path.samefile(name) for name in inputs):
        raise InputError(f"'{path}' is the prompt itself.", "Record into another file.")
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
