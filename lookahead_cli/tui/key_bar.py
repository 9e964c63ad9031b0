"""The key bar: each key wholly or not at all, the most needed ones first."""

from __future__ import annotations

from collections.abc import Sequence

from textual.binding import ActiveBinding
from textual.events import Click, MouseMove
from textual.screen import Screen

from lookahead_cli.tui.drawn import Drawn
from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.token_text import cell_width

_NARROW_GAP, _WIDE_GAP = 1, 2


class KeyBar(Drawn):
    """Keys in the order of the bindings, those that fit; a click presses one.

    Args:
        theme: The colours.
        needed: Keys, the most needed first; a key that is not among them is needed less than all of them.
    """

    DEFAULT_CSS = "KeyBar { dock: bottom; height: 1; }"

    def __init__(self, theme: Theme, needed: Sequence[str] = ()) -> None:
        super().__init__(theme, "background")
        self._needed = tuple(needed)
        self._places: list[tuple[range, ActiveBinding]] = []

    def on_mount(self) -> None:
        """Follow what the keys do."""
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def _bindings_changed(self, _: Screen[object]) -> None:
        self.call_after_refresh(self.redraw)

    def redraw(self) -> None:
        """Choose the keys that fit the width, and draw them."""
        width = self.size.width
        keys = self._keys()
        room, kept = width + _NARROW_GAP, set()
        for key in sorted(keys, key=self._rank):
            room -= cell_width(self._words(key)) + _NARROW_GAP
            if room < 0:
                break
            kept.add(key.binding.key)
        keys = [key for key in keys if key.binding.key in kept]
        cells = sum(cell_width(self._words(key)) for key in keys)
        gap = _WIDE_GAP if cells + _WIDE_GAP * (len(keys) - 1) <= width else _NARROW_GAP
        self._places = []
        line = Line(width)
        muted = self.style("muted")
        for key in keys:
            line.add(" " * gap if line.width else "", muted)
            start = line.width
            line.add(self.app.get_key_display(key.binding), self.style("accent" if key.enabled else "muted"))
            line.add(f" {key.binding.description}", self.style("foreground" if key.enabled else "muted"))
            self._places.append((range(start, line.width), key))
        self.draw([line])

    def _keys(self) -> list[ActiveBinding]:
        """The shown bindings of the screen, the first one of each action."""
        first: dict[str, ActiveBinding] = {}
        for active in self.screen.active_bindings.values():
            if active.binding.show:
                first.setdefault(active.binding.action, active)
        return list(first.values())

    def _words(self, key: ActiveBinding) -> str:
        return f"{self.app.get_key_display(key.binding)} {key.binding.description}"

    def _rank(self, key: ActiveBinding) -> int:
        name = key.binding.key
        return self._needed.index(name) if name in self._needed else len(self._needed)

    def _at(self, x: int) -> ActiveBinding | None:
        return next((key for place, key in self._places if x in place), None)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Say what the key under the mouse does."""
        key = self._at(event.x)
        self.tooltip = None if key is None else key.tooltip or key.binding.description

    def on_click(self, event: Click) -> None:
        """Press the key under the mouse."""
        key = self._at(event.x)
        if key is not None:
            self.app.simulate_key(key.binding.key)
