"""`lookahead themes`: the colours to choose from, shown on a line of every role."""

from __future__ import annotations

import json as json_module
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lookahead_cli.tui.theme import Theme

_ROLES = ("accepted", "free", "bonus", "rejected", "wanted", "pool_hit", "age_0", "age_1", "age_2", "muted")
_WORDS = {
    "accepted": "✓ accepted",
    "free": "★ free",
    "rejected": "✗ rejected",
    "pool_hit": "pool hit",
    "age_0": "newest row",
    "age_1": "older",
    "age_2": "oldest",
}


def themes(
    name: Annotated[
        str | None, typer.Argument(metavar="THEME", help="Show this one only: a name, or a theme file.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Write names, files and colours as JSON.")] = False,
) -> None:
    """List the themes, each with a line of its roles."""
    from rich.text import Text

    from lookahead_cli.cli.console import output_console
    from lookahead_cli.errors import InputError
    from lookahead_cli.tui.theme import available_themes, load_theme

    names = [name] if name is not None else [entry.name for entry in available_themes()]
    loaded: dict[str, Theme | InputError] = {}
    for each in names:
        try:
            loaded[each] = load_theme(each)
        except InputError as error:
            if name is not None:
                raise
            loaded[each] = error
    if json:
        print(
            json_module.dumps(
                [
                    {"name": each, "error": str(theme)}
                    if isinstance(theme, InputError)
                    else theme.model_dump() | {"name": _called(each, theme)}
                    for each, theme in loaded.items()
                ],
                indent=2,
            )
        )
        return
    console = output_console()
    for each, theme in loaded.items():
        if isinstance(theme, InputError):
            console.print(Text(f"{each}: {theme}"))
            continue
        console.print(Text(f"{_called(each, theme):<12}").append(theme.description, "dim"))
        line = Text("  ")
        for role in _ROLES:
            line.append(_WORDS.get(role, role), theme.style(role)).append("  ")
        console.print(line)


def _called(asked: str, theme: Theme) -> str:
    """What `--theme` takes: a theme of one's own may carry the name of another in its file."""
    return theme.name if asked.endswith(".toml") else asked
