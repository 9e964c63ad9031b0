"""The whole screen of a run, opened at a stop's step: every panel, every step, and the way back."""

from __future__ import annotations

import math
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from lookahead_cli.tui.run_screen import RunScreen
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.step_screen import StepScreen
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.timeline import Timeline
from lookahead_cli.tui.title import PlayState

_HELD = PlayState(paused=True, speed=math.inf)


class ExploreScreen(RunScreen):
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
        Binding("left", "step(-1)", "Back", id="explore.back", key_display="←", tooltip="The step before"),
        Binding(
            "right,space", "step(1)", "Step", id="explore.step", key_display="→", tooltip="The next step"
        ),
        Binding("home", "look_at(0)", "First", id="explore.first", show=False, tooltip="The first step"),
        Binding("end", "look_at(-1)", "Last", id="explore.last", show=False, tooltip="The last step"),
        Binding("n", "next_multi", "Hit", id="explore.next", tooltip="Next step that emits several tokens"),
        Binding("m", "inside('mask')", "Mask", id="explore.mask", tooltip="The step's attention mask"),
        Binding("t", "inside('tree')", "Tree", id="explore.tree", tooltip="The step's token tree"),
        *(
            Binding(
                str(number),
                f"zoom({number - 1})",
                "Zoom",
                id=f"explore.zoom{number}",
                show=False,
                tooltip="That panel on the whole screen; again, all four",
            )
            for number in range(1, 5)
        ),
    ]

    def __init__(self, theme: Theme, view: RunView) -> None:
        super().__init__(theme, "", view)
        self._theme = theme
        self._run = view

    def on_mount(self) -> None:
        """Show the step that the run looks at."""
        self.start()
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        self.draw(_HELD)

    def action_step(self, by: int) -> None:
        """Look at another step."""
        self.action_look_at(max(0, self._run.shown + by))

    def action_look_at(self, index: int) -> None:
        """Look at a step, -1 for the last."""
        self._run.look_at(self._run.newest if index < 0 else index)
        self._show()

    def action_next_multi(self) -> None:
        """Look at the next step that emitted several tokens."""
        found = self._run.next_multi()
        if found is None:
            self.app.bell()
        else:
            self.action_look_at(found)

    def action_inside(self, what: str) -> None:
        """Look at the step from inside: its mask, or its tree."""
        self.app.push_screen(StepScreen(self._theme, self._run, what), lambda _: self._show())

    def action_zoom(self, number: int) -> None:
        """Give one panel the whole screen, or show all four."""
        self.zoom(number)

    @on(Timeline.Chosen)
    def look_at_chosen(self, event: Timeline.Chosen) -> None:
        """Look at the step that was pointed at."""
        self.action_look_at(event.index)

    def action_close(self) -> None:
        """Back to the tour."""
        self.dismiss()
