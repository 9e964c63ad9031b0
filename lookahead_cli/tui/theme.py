"""Themes: TOML files that say which colour plays which role.

Reading one needs neither textual nor torch, so that the plain printer and `lookahead themes` start at once.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from rich.style import Style

from lookahead_cli.errors import InputError, UsageError
from lookahead_cli.locations import packaged_themes_folder, user_themes_folder

DEFAULT_THEME = "dark"
_BOLD = frozenset({"accent", "accepted", "bonus", "free", "pool_hit", "title"})
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def _colour(value: str) -> str:
    if not _COLOUR.fullmatch(value):
        raise ValueError(f"'{value}' is no colour such as '#7aa2f7'")
    return value


Colour = Annotated[str, AfterValidator(_colour)]


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
        accent: Titles, borders and the current token.
        accepted: Tokens that the model confirmed.
        free: Accepted tokens that cost no step of their own.
        bonus: Tokens that the model computed itself: the last of a step, and the window's new row.
        rejected: Guesses that were wrong.
        wanted: What the model wanted instead.
        pool_hit: A candidate that matched, an n-gram that was collected.
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

    @cached_property
    def styles(self) -> Mapping[str, Callable[[str], Style]]:
        """Styles by ground and role; a lookup costs next to nothing."""
        return _Grounds(self)

    def style(self, role: str) -> Style:
        """Rich style of a role, `age_0` (newest) and up for window rows; an unknown one is ordinary text."""
        return self.styles[""](role)

    def on(self, ground: str) -> Callable[[str], Style]:
        """Styles by role on the ground of another role, such as `panel` or `shade_0`."""
        return self.styles[ground]

    def colour(self, role: str) -> str:
        """Colour of a role as `#rrggbb`."""
        if role.startswith("age_"):
            return self.window[-1 - min(int(role.removeprefix("age_")), len(self.window) - 1)]
        if role.startswith("shade_"):
            return self.shades[int(role.removeprefix("shade_")) % len(self.shades)]
        if role == "refilled":
            return self.muted
        if role == "frame":
            return _between(self.accent, self.panel)
        colour = getattr(self, role, self.foreground)
        return colour if isinstance(colour, str) and _COLOUR.fullmatch(colour) else self.foreground


class _Roles(dict[str, Style]):
    """Styles by role on one ground."""

    def __init__(self, theme: Theme, ground: str) -> None:
        super().__init__()
        self._theme = theme
        self._ground = theme.colour(ground) if ground else None

    def __missing__(self, role: str) -> Style:
        colour = self._theme.colour(role)
        style = Style(color=colour, bgcolor=self._ground, bold=role in _BOLD, italic=role == "refilled")
        self[role] = style
        return style


class _Grounds(dict[str, Callable[[str], Style]]):
    """Lookups of styles by role, by ground."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    def __missing__(self, ground: str) -> Callable[[str], Style]:
        lookup = _Roles(self._theme, ground).__getitem__
        self[ground] = lookup
        return lookup


def _between(one: str, other: str) -> str:
    """A colour of 60 % of the one and 40 % of the other."""
    mixed = (round(0.6 * int(one[at : at + 2], 16) + 0.4 * int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in mixed)


@dataclass(frozen=True, slots=True)
class ThemeEntry:
    """A theme that `--theme` can name.

    Attributes:
        name: The file's name without `.toml`.
        path: The file.
        own: True for one in the person's own folder.
    """

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
    """The theme, or the default and the sentence that says what was wrong with its file.

    Raises:
        UsageError: There is no theme of that name.
    """
    try:
        return load_theme(name_or_path), None
    except InputError as error:
        default = _read(packaged_themes_folder() / f"{DEFAULT_THEME}.toml")
        return default, f"{error.message} The theme '{DEFAULT_THEME}' is used instead."


def _read(path: Path) -> Theme:
    mend = "Compare it with the file of a theme that ships, or leave out --theme."
    try:
        return Theme.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise InputError(
            f"There is no theme file '{path}'.", "'lookahead themes' lists what there is."
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"The theme file '{path}' is not text.", mend) from error
    except OSError as error:
        raise InputError(f"The theme file '{path}' cannot be read: {error.strerror}.", mend) from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"The theme file '{path}' is not TOML: {error}.", mend) from error
    except ValidationError as error:
        raise InputError(f"The theme file '{path}' is wrong: {_complaint(error)}.", mend) from error


def _complaint(error: ValidationError) -> str:
    """The first thing that is wrong, in words."""
    first: Any = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"it has no '{where}'"
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(where, Theme.model_fields, n=1)
        return f"there is no role '{where}'" + (f", did you mean '{near[0]}'" if near else "")
    if first["type"] == "value_error":
        return f"at '{where}', {first['ctx']['error']}"
    return f"at '{where}', {str(first['msg']).lower()}"
