"""The key bar: each key wholly or not at all, the most needed ones first."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.events import Resize
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

from lookahead_cli.tui.token_text import cell_width

_BETWEEN = 1  # Blanks between two keys.


class KeyBar(Footer):
    """Keys in the order of the bindings, those that fit.

    Args:
        needed: Keys, the most needed first; a key that is not among them is needed less than all of them.
    """

    def __init__(self, needed: Sequence[str] = ()) -> None:
        super().__init__(show_command_palette=False, compact=True)
        self._needed = tuple(needed)

    def compose(self) -> ComposeResult:
        """The keys that fit the width."""
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        room = self.app.size.width + _BETWEEN
        kept = set()
        for key in sorted(keys, key=self._rank):
            room -= cell_width(f"{key.key_display} {key.description}") + _BETWEEN
            if room < 0:
                break
            kept.add(key)
        yield from (key for key in keys if key in kept)

    def _rank(self, key: FooterKey) -> int:
        return self._needed.index(key.key) if key.key in self._needed else len(self._needed)

    async def on_resize(self, event: Resize) -> None:
        """Choose again, for the new width."""
        await self.recompose()
