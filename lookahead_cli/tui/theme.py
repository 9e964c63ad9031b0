"""Themes: TOML files that say which colour plays which role.

Reading one needs neither textual nor torch, so that the plain printer and `lookahead themes` start at once.
"""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rich.style import Style

from lookahead_cli.errors import InputError, UsageError
from lookahead_cli.locations import packaged_themes_folder, user_themes_folder

DEFAULT_THEME = "dark"

Colour = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]


class Theme(BaseModel):
    """The colours of a theme file, each `#rrggbb`, by role.

    Attributes:
        name: Name for `--theme`.
        description: One line about it.
        dark: True for light text on a dark ground.
        background: Ground of the screen.
        panel: Ground of the panels.
        foreground: Ordinary text.
        muted: Text of less weight.
        accent: Titles and borders in focus.
        accepted: Tokens that the model confirmed.
        free: Accepted tokens that cost no step of their own.
        bonus: The token that the model computed itself.
        rejected: Guesses that were wrong.
        wanted: What the model wanted instead.
        pool_hit: A candidate that matched.
        window: Window cells by age, oldest row first.
        shades: Grounds of accepted tokens, one a step in turn.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    description: str = ""
    dark: bool
    background: Colour
    panel: Colour
    foreground: Colour
    muted: Colour
    accent: Colour
    accepted: Colour
    free: Colour
    bonus: Colour
    rejected: Colour
    wanted: Colour
    pool_hit: Colour
    window: Annotated[tuple[Colour, ...], Field(min_length=2)]
    shades: Annotated[tuple[Colour, ...], Field(min_length=2)]

    def style(self, role: str) -> Style:
        """Rich style of a role, `age_0` (newest) and up for window rows; ordinary text for an unknown one."""
        if role.startswith("age_"):
            age = min(int(role.removeprefix("age_")), len(self.window) - 1)
            return Style(color=self.window[-1 - age])
        if role == "refilled":
            return Style(color=self.muted, italic=True)
        colour = getattr(self, role, self.foreground)
        bold = role in {"accepted", "pool_hit", "accent", "free"}
        return Style(color=colour if isinstance(colour, str) else self.foreground, bold=bold)


@dataclass(frozen=True, slots=True)
class ThemeEntry:
    """A theme that `--theme` can name."""

    name: str
    path: Path
    own: bool


def available_themes() -> list[ThemeEntry]:
    """Themes that ship and a person's own, by name; their own wins over one of the same name."""
    found: dict[str, ThemeEntry] = {}
    for folder, own in ((packaged_themes_folder(), False), (user_themes_folder(), True)):
        if folder.is_dir():
            for path in sorted(folder.glob("*.toml")):
                found[path.stem] = ThemeEntry(path.stem, path, own)
    return sorted(found.values(), key=lambda entry: (entry.own, entry.name))


def load_theme(name_or_path: str | None = None) -> Theme:
    """The theme of a name or a file; None for the default.

    Raises:
        UsageError: There is no theme of that name.
        InputError: The file is no theme.
    """
    name = name_or_path or DEFAULT_THEME
    if name.endswith(".toml") or "/" in name:
        return _read(Path(name).expanduser())
    entries = {entry.name: entry for entry in available_themes()}
    if name not in entries:
        near = difflib.get_close_matches(name, entries, n=2, cutoff=0.5) or list(entries)
        raise UsageError(
            f"There is no theme called '{name}'.",
            f"Did you mean {' or '.join(near)}? 'lookahead themes' lists them all.",
        )
    return _read(entries[name].path)


def load_theme_or_default(name_or_path: str | None = None) -> tuple[Theme, str | None]:
    """The theme, or the default and the sentence that says what was wrong with it."""
    try:
        return load_theme(name_or_path), None
    except InputError as error:
        return _read(
            packaged_themes_folder() / f"{DEFAULT_THEME}.toml"
        ), f"{error.message} Using {DEFAULT_THEME}."


def _read(path: Path) -> Theme:
    try:
        return Theme.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise InputError(
            f"There is no theme file '{path}'.", "'lookahead themes' lists what there is."
        ) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"The theme file '{path}' cannot be read: {error}.", _MEND) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"The theme file '{path}' is wrong at '{where}': {first['msg']}.", _MEND) from error


_MEND = "Compare it with a theme that 'lookahead themes' shows, or leave out --theme."
