"""The command palette: every action of the screen by its name, and the help text of each of its panels."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import partial

from textual.app import SystemCommand
from textual.screen import Screen

from lookahead_cli.tui.explained import Explained, explained_on
from lookahead_cli.tui.help import HelpScreen
from lookahead_cli.tui.theme import Theme


def commands_of(
    screen: Screen[object],
    theme: Theme,
    *,
    explained: Sequence[type[Explained]] | None = None,
    without: Container[str] = frozenset(),
) -> Iterator[SystemCommand]:
    """The actions that have a key on `screen`, each once, in the order of the keys; then the help texts.

    Args:
        screen: The screen.
        theme: The colours.
        explained: What has a help text; None for what the screen itself names.
        without: Actions that are offered otherwise.
    """
    seen = set()
    for active in screen.active_bindings.values():
        binding = active.binding
        # Widgets bring keys of their own, such as those that move a cursor; ours have ids.
        if not active.enabled or not binding.id or binding.action in seen or binding.action in without:
            continue
        seen.add(binding.action)
        key = screen.app.get_key_display(binding)
        yield SystemCommand(
            binding.description,
            f"{binding.tooltip or binding.description} ({key})",
            partial(screen.app.run_action, binding.action, active.node),
        )
    for part in explained_on(screen) if explained is None else explained:
        first_sentence = part.HELP.partition(". ")[0].rstrip(".") + "."
        yield SystemCommand(
            f"Help: {part.TITLE.capitalize()}", first_sentence, partial(_explain, screen, theme, part)
        )


def _explain(screen: Screen[object], theme: Theme, part: type[Explained]) -> None:
    screen.app.push_screen(HelpScreen(theme, (part,)))
