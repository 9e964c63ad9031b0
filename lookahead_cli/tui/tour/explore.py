"""The whole screen of a run, opened at a stop's step: every panel, every step, and the way back."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from lookahead_cli.tui.keys import RUN_KEYS
from lookahead_cli.tui.playback import Playback
from lookahead_cli.tui.run_control import RunControl
from lookahead_cli.tui.run_screen import RunScreen
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme

_OF_A_MODEL = frozenset({"run.race", "run.settings", "run.unzoom"})
"""Keys that need a model, and the one that closes this screen instead."""


class ExploreScreen(RunScreen, RunControl):
    """A recorded run, held at a step.

    Args:
        theme: The colours.
        view: The run, all of it read.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,q",
            "close",
            "Back to the tour",
            id="explore.close",
            key_display="esc",
            tooltip="Back to the stop",
        ),
        *(
            key
            for key in RUN_KEYS
            if isinstance(key, Binding)
            and key.id is not None
            and key.id.startswith("run.")
            and key.id not in _OF_A_MODEL
        ),
    ]

    def __init__(self, theme: Theme, view: RunView) -> None:
        super().__init__(theme, "", view)
        self.colours = theme
        self.view = view
        self.playback = Playback(view, paused=True)
        self.run_screen = self

    def on_mount(self) -> None:
        """Show the step that the run looks at."""
        self.start()
        self.call_after_refresh(self.want_redraw)

    def action_close(self) -> None:
        """Back to the tour."""
        self.dismiss()
