"""`lookahead config`: where the settings are, what they say, and an editor on them."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from lookahead_cli.cli.console import note, output_console
from lookahead_cli.cli.settings import (
    Setting,
    applies_to,
    check_file,
    options_of,
    read_settings,
    settings_files,
)
from lookahead_cli.errors import ExitCode, InputError, UsageError

config = typer.Typer(
    help="Settings: where they are, what they say, and an editor on them.\n\nYour own file is weaker than "
    "./lookahead.toml, that than the environment (LOOKAHEAD_MODEL=…), and that than flags.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
_BEGINNING = """\
# Settings of `lookahead`: the long names of its options, without the dashes.
# Above all tables they count for every command but compare and bench, which measure with what their own
# tables say; a table such as [chat] is for that command alone.
# Take away a '#' to set something.
"""


@config.callback(invoke_without_command=True)
def _root(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)


@config.command()
def path(
    json: Annotated[bool, typer.Option("--json", help="Write the paths as JSON.")] = False,
) -> None:
    """Print where the settings files are looked for, the weaker one first."""
    files = [file.absolute() for file in settings_files()]
    if json:
        print(json_module.dumps([{"file": str(file), "exists": file.is_file()} for file in files], indent=2))
        return
    for file in files:
        print(file if file.is_file() else f"{file} (not there)")


@config.command()
def show(
    context: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Show the settings that nobody changed too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Write the settings as JSON.")] = False,
) -> None:
    """Show every setting that differs from the defaults, and where it comes from."""
    commands = _commands(context)
    settings = read_settings(commands)
    if json:
        rows = [
            {
                "key": setting.key,
                "table": setting.command,
                "value": setting.value,
                "origin": setting.origin,
                "line": setting.line,
                "commands": list(_effective(commands, settings, setting)),
            }
            for setting in settings
        ]
        print(json_module.dumps(rows, indent=2))
        return
    if not settings and not every:
        print("Nothing is set: every option has its default. `lookahead config edit` begins a file.")
        return
    _print_table(commands, settings, every=every)


@config.command()
def edit(
    context: typer.Context,
    local: Annotated[
        bool, typer.Option("--local", help="Edit ./lookahead.toml, which counts in this folder alone.")
    ] = False,
) -> int:
    """Open the settings in your editor ($VISUAL or $EDITOR), and check them afterwards."""
    from lookahead_cli.tui.editor import edit_file, editor_is_named, find_editor

    file = settings_files()[local]
    editor = find_editor()
    if not sys.stdin.isatty() and not editor_is_named():
        raise UsageError("An editor needs a terminal.", "`lookahead config path` says which file to edit.")
    if not file.exists():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_template(_commands(context)), encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"'{file}' cannot be written ({error.strerror or error}).", "Check the folder's permissions."
            ) from error
    edit_file(editor, file)
    check_file(_commands(context), file)
    note(f"'{file}' is in order.")
    return ExitCode.OK


def _commands(context: typer.Context) -> dict[str, Any]:
    group: Any = context.find_root().command
    return {name: command for name, command in group.commands.items() if name != "config"}


def _effective(commands: dict[str, Any], settings: list[Setting], setting: Setting) -> list[str]:
    """The commands for which no stronger setting says otherwise."""
    origins = list(dict.fromkeys(each.origin for each in settings))

    def strength(each: Setting) -> tuple[int, bool]:
        return origins.index(each.origin), each.command is not None

    rivals = [each for each in settings if each.key == setting.key]
    return [
        name
        for name in applies_to(commands, setting)
        if max((each for each in rivals if name in applies_to(commands, each)), key=strength) is setting
    ]


def _print_table(commands: dict[str, Any], settings: list[Setting], *, every: bool) -> None:
    from rich import box
    from rich.table import Table

    table = Table("setting", "value", "for", "from", box=box.SIMPLE_HEAD)
    for setting in settings:
        names = _effective(commands, settings, setting)
        place = setting.origin if setting.line is None else f"{setting.origin}:{setting.line}"
        counts = ", ".join(names) or "(a stronger one counts)"
        table.add_row(
            setting.key,
            _value(setting.value),
            counts,
            place.replace(str(Path.home()), "~"),
            style=None if names else "dim",
        )
    changed = {setting.key for setting in settings}
    owners: dict[str, list[str]] = {}
    for name, command in commands.items():
        for key in options_of(command):
            owners.setdefault(key, []).append(name)
    for key, names in owners.items() if every else ():
        if key not in changed:
            default = options_of(commands[names[0]])[key].default
            table.add_row(key, _value(default), ", ".join(names), "default", style="dim")
    output_console().print(table)


def _value(value: object) -> str:
    return "" if value is None else json_module.dumps(value, ensure_ascii=False)


def _template(commands: dict[str, Any]) -> str:
    """A file in which everything is there and nothing is set."""
    above = options_of(commands["chat"])
    parts = [_BEGINNING, *(_line(key, option) for key, option in above.items())]
    for name, command in commands.items():
        own = {key: option for key, option in options_of(command).items() if key not in above}
        if own:
            parts += [f"\n# [{name}]\n", *(_line(key, option) for key, option in own.items())]
    return "".join(parts)


def _line(key: str, option: Any) -> str:
    default = (
        "[]" if option.multiple else "…" if option.default is None else json_module.dumps(option.default)
    )
    words = (option.help or "").partition(". ")[0].rstrip(".")
    return f"# {key} = {default}  # {words}\n"
