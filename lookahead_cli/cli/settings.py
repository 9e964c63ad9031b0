"""Settings: a person's TOML file, then `./lookahead.toml`, then the environment; flags are stronger still."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from lookahead_cli.errors import UsageError
from lookahead_cli.locations import config_folder

# What a command measures is no matter of taste: these take decoding settings from their own tables alone.
MEASURING = frozenset({"compare", "bench"})
_DECODING_PANELS = frozenset({"Decoding", "Sampling", "Pool"})
# They name one run's files or output, which a file that is always read must not.
_ONE_RUN = frozenset(
    {"json", "jsonl", "csv", "markdown", "plot", "record", "pool", "resume", "session", "prompt", "file"}
)
_PREFIX = "LOOKAHEAD_"
_FOLDERS = frozenset({"LOOKAHEAD_CACHE", "LOOKAHEAD_CONFIG", "LOOKAHEAD_DATA"})
_TRUTH = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}
_TABLE = re.compile(r"\s*\[\s*\"?([\w-]+)\"?\s*\]")
_KEY = re.compile(r"\s*\"?([\w-]+)\"?\s*=")


class SettingsError(UsageError):
    """A settings file, or a variable of the environment, cannot be used."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of a settings file, or a variable of the environment.

    Attributes:
        command: Whose table it stands in, None above all tables.
        key: An option's long name without its dashes.
        value: As TOML has it, or the variable's text.
        origin: The file or the variable.
        line: Counted from 1, None for a variable.
    """

    command: str | None
    key: str
    value: Any
    origin: str
    line: int | None = None

    @property
    def place(self) -> str:
        """Where it stands, for people."""
        return self.origin if self.line is None else f"'{self.origin}', line {self.line}"


def settings_files() -> tuple[Path, Path]:
    """The files, the weaker one first; neither needs to be there."""
    return config_folder() / "config.toml", Path("lookahead.toml")


def options_of(command: Any) -> dict[str, Any]:
    """The options of a command that a settings file may set, by key."""
    return {
        key: option
        for option in command.params
        if getattr(option, "rich_help_panel", None) is not None and option.opts[0].startswith("--")
        if (key := option.opts[0].removeprefix("--")) not in _ONE_RUN
    }


def read_settings(commands: Mapping[str, Any]) -> list[Setting]:
    """Every setting of the files that are there and of the environment, checked, the weakest first.

    Args:
        commands: The commands by name.

    Raises:
        SettingsError: A file cannot be read, is no TOML, or something has a key or a value that no option
            takes.
    """
    files = (setting for file in settings_files() if file.is_file() for setting in _read(commands, file))
    return [*files, *_read_environment(commands)]


def check_file(commands: Mapping[str, Any], file: Path) -> None:
    """Check one file.

    Raises:
        SettingsError: It cannot be used.
    """
    for _ in _read(commands, file):
        pass


def defaults_of(commands: Mapping[str, Any], settings: Iterable[Setting]) -> dict[str, dict[str, Any]]:
    """The defaults of each command's parameters; the later origin wins, and in a file a command's table."""
    defaults: dict[str, dict[str, Any]] = {name: {} for name in commands}
    weakest_first = sorted(settings, key=lambda setting: setting.command is not None)
    for origin in dict.fromkeys(setting.origin for setting in settings):
        for setting in weakest_first:
            if setting.origin == origin:
                for name in applies_to(commands, setting):
                    option = options_of(commands[name])[setting.key]
                    defaults[name][option.name] = setting.value
    return defaults


def applies_to(commands: Mapping[str, Any], setting: Setting) -> Iterator[str]:
    """The commands whose defaults a setting changes."""
    for name, command in commands.items():
        option = options_of(command).get(setting.key)
        if option is None or setting.command not in (None, name):
            continue
        measured = name in MEASURING and option.rich_help_panel in _DECODING_PANELS
        fits = isinstance(setting.value, list) == bool(option.multiple)
        if setting.command == name or (fits and not measured):
            yield name


def _read(commands: Mapping[str, Any], file: Path) -> Iterator[Setting]:
    import tomllib

    try:
        text = file.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"The settings '{file}' are no TOML: {error}.", _mend(file)) from error
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise SettingsError(f"The settings '{file}' cannot be read ({reason}).", _mend(file)) from error
    lines = _lines(text)
    for name, value in content.items():
        is_table = isinstance(value, dict) and name in commands
        entries = value.items() if is_table else [(name, value)]
        command = name if is_table else None
        for key, each in entries:
            known = options_of(commands[name]) if is_table else _general(commands)
            key = key.replace("_", "-")
            setting = Setting(command, key, each, str(file), lines.get((command, key), 1))
            if key not in known:
                raise _unknown(setting, [*known, *(() if is_table else commands)], commands)
            _check_value(setting, known[key], commands, _mend(file))
            yield setting


def _read_environment(commands: Mapping[str, Any]) -> Iterator[Setting]:
    known = _general(commands)
    for name in sorted(os.environ):
        text = os.environ[name]
        if not name.startswith(_PREFIX) or name in _FOLDERS or not text:
            continue
        key = name.removeprefix(_PREFIX).replace("_", "-").lower()
        if key not in known:
            raise _unknown(Setting(None, key, text, name), known, commands)
        option = known[key]
        truth = _TRUTH.get(text.lower()) if option.is_flag else None
        value = [text] if option.multiple else text if truth is None else truth
        setting = Setting(None, key, value, name)
        _check_value(setting, option, commands, "Set it otherwise, or unset it.")
        yield setting


def _general(commands: Mapping[str, Any]) -> dict[str, Any]:
    """What may stand above all tables; a list where one of the commands takes one."""
    every = [option for command in commands.values() for option in options_of(command).items()]
    # Where one command takes a list and another a single value, the single one says what the key means.
    return dict(sorted(every, key=lambda option: not option[1].multiple))


def _lines(text: str) -> dict[tuple[str | None, str], int]:
    """The line of each key, by table and key."""
    lines: dict[tuple[str | None, str], int] = {}
    table: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if named := _TABLE.match(line):
            table = named[1]
            lines.setdefault((None, table), number)
        elif named := _KEY.match(line):
            lines.setdefault((table, named[1].replace("_", "-")), number)
    return lines


def _unknown(setting: Setting, known: Iterable[str], commands: Mapping[str, Any]) -> SettingsError:
    from difflib import get_close_matches

    table = "" if setting.command is None else f" in [{setting.command}]"
    if setting.key in _ONE_RUN:
        return SettingsError(
            f"{setting.place}: '{setting.key}' is a matter of one run.", "Give it as a flag."
        )
    nearest = get_close_matches(setting.key, list(known), n=1)
    owners = [name for name, command in commands.items() if setting.key in options_of(command)]
    if owners:
        hint = f"It belongs to [{owners[0]}]."
    else:
        hint = f"Did you mean '{nearest[0]}'?" if nearest else "`lookahead config show --all` names them."
    return SettingsError(f"{setting.place}: there is no setting called '{setting.key}'{table}.", hint)


def _check_value(setting: Setting, option: Any, commands: Mapping[str, Any], hint: str) -> None:
    value = setting.value
    kind = "true or false" if option.is_flag else "a list" if option.multiple else "one value"
    fits = isinstance(value, bool) == bool(option.is_flag) and isinstance(value, list) == bool(
        option.multiple
    )
    reason = f"it takes {kind}"
    if fits and not isinstance(value, dict):
        try:
            option.process_value(typer.Context(next(iter(commands.values()))), value)
        except typer.TyperException as error:
            reason = error.format_message().rpartition(": ")[2].removeprefix("Value error, ").rstrip(".")
        else:
            return
    raise SettingsError(f"{setting.place}: '{setting.key}' cannot be {value!r}: {reason}.", hint)


def _mend(file: Path) -> str:
    return f"Mend it with `lookahead config edit{'' if file.is_absolute() else ' --local'}`."
