"""The command palette: every action of the screen, by its name."""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import partial

from textual.app import SystemCommand
from textual.screen import Screen


def commands_of(screen: Screen[object], *, without: Container[str] = frozenset()) -> Iterator[SystemCommand]:
    """The actions that have a key on `screen`, each once, in the order of the keys.

    Args:
        screen: The screen.
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
